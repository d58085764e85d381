"""`Variable` and `volatile` in the shapes that a fixture cannot hold: whole files, and lines that a marker would change."""

from __future__ import annotations

from textwrap import dedent

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source


def rules(*codes: str) -> list[Entry]:
    return [rule for rule in all_rules() if rule.code in codes]


def fixed(text: str, code: str, applicability: Applicability = Applicability.UNSAFE) -> str:
    return fix(Source(dedent(text)), rules(code), applicability).text


def found(text: str, code: str, filename: str = "old.py") -> list[int]:
    return [diagnostic.location.row for diagnostic in lint(Source(dedent(text), filename), rules(code))]


# --- Variable --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from chainer import *\nx = Variable(y)\n", id="chainer, by a star"),
        pytest.param("from tkinter import *\nname = Variable(value='x')\n", id="tkinter, by a star"),
        pytest.param("import tensorflow as tf\nfrom tensorflow import Variable\nx = Variable(y)\n", id="tensorflow"),
        pytest.param("from tensorflow.python.ops.variables import Variable\nx = Variable(y)\n", id="deep in tensorflow"),
        pytest.param("from .symbols import Variable\nx = Variable('x')\n", id="the project's own"),
        pytest.param("class Variable:\n    pass\n\n\nx = Variable()\n", id="the file's own"),
        pytest.param("import sympy\nx = Variable(sympy.Symbol('x'))\n", id="another library is imported, torch is not"),
        pytest.param("from torch.autograd import Variable\n__all__ = ['Variable']\n", id="exported"),
        pytest.param(
            "from torch.autograd import Variable\n\n\ndef f(x):\n    # type: (Variable) -> None\n    pass\n", id="type comment"
        ),
        pytest.param(
            "from torch.autograd import Variable  # noqa: F401\n",
            id="imported for others",
        ),
        pytest.param(
            "try:\n    from torch.autograd import Variable\nexcept ImportError:\n    Variable = None\n",
            id="a look whether it is there",
        ),
        pytest.param(
            "import io\nimport os\nimport torch\nimport torch.nn as nn\nfrom torch.autograd import Variable\n",
            id="a module that gathers imports",
        ),
    ],
)
def test_leaves_other_variables_alone(text: str) -> None:
    assert found(text, "TPL101") == []


def test_keeps_the_import_of_a_package() -> None:
    text = "from torch.autograd import Variable\n\n\ndef f():\n    pass\n"
    assert found(text, "TPL101", "package/__init__.py") == []
    assert found(text, "TPL101", "package/module.py") == [1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            """\
            pad = Variable(torch.zeros(n,
                                       m,
                                       1)).cuda()
            """,
            """\
            pad = torch.zeros(n,
                              m,
                              1).cuda()
            """,
            id="aligned lines move along",
        ),
        pytest.param(
            """\
            context = Variable(outputs.data.new()
                                      .resize_(n, m).fill_(0))
            """,
            """\
            context = (outputs.new()
                              .resize_(n, m).fill_(0))
            """,
            id="a line break before a method keeps the parentheses",
        ),
        pytest.param(
            """\
            x = f(Variable(outputs.data.new()
                                  .resize_(n)), 1)
            """,
            """\
            x = f(outputs.new()
                         .resize_(n), 1)
            """,
            id="none are needed inside a call",
        ),
        pytest.param(
            """\
            one_hot = Variable(
                torch.stack([row
                             for row in rows]))
            """,
            """\
            one_hot = torch.stack([row
                                   for row in rows]).detach()
            """,
            id="or to the right",
        ),
        pytest.param(
            """\
            x = Variable(torch.tensor([
                1,
                2,
            ]))
            """,
            """\
            x = torch.tensor([
                1,
                2,
            ])
            """,
            id="hanging lines stay",
        ),
        pytest.param(
            '''\
            x = Variable(encode("""one
                                 two"""))
            ''',
            '''\
            x = encode("""one
                                 two""")
            ''',
            id="strings stay",
        ),
        pytest.param(
            """\
            x = Variable(
                y.data,  # the old one
                requires_grad=True,  # trained
            )
            """,
            """\
            x = (
                y  # the old one
                # trained
            ).detach().requires_grad_()
            """,
            id="comments keep the parentheses",
        ),
        pytest.param("x = Variable(  # (why)\n    y\n)\n", "x = (  # (why)\n    y\n)\n", id="a comment behind the parenthesis"),
        pytest.param(
            "from torch.autograd import (\n    Function,\n    Variable,\n)\n\nx = Function(Variable(y))\n",
            "from torch.autograd import (\n    Function,\n)\n\nx = Function(y)\n",
            id="an import of several lines",
        ),
        pytest.param(
            "from torch.autograd import *\nx = Variable(y)\n",
            "from torch.autograd import *\nx = y\n",
            id="a star import stays",
        ),
        pytest.param(
            "from .torch_imports import *\nx = Variable(y)\n",
            "from .torch_imports import *\nx = y\n",
            id="a star import of the project may bring it",
        ),
        pytest.param(
            "def f(x):\n    from torch.autograd import Variable\n    return Variable(x)\n",
            "def f(x):\n    return x\n",
            id="an import inside a function",
        ),
        pytest.param(
            "import torch.autograd as autograd\nV = autograd.Variable\nx = V(y)\n",
            "import torch.autograd as autograd\nx = y\n",
            id="a name given to it",
        ),
        pytest.param(
            "if not isinstance(x, Variable):\n    x = Variable(x)\nelse:\n    y = 1\n",
            "if not isinstance(x, torch.Tensor):\n    pass\nelse:\n    y = 1\n",
            id="a branch that something else depends on",
        ),
        pytest.param(
            "if ready():\n    x = Variable(x)\n    y = Variable(y)\n",
            "if ready():\n    pass\n",
            id="a condition that does something stays",
        ),
        pytest.param("if cuda:\n    x = Variable(x)\n    y = Variable(y)\nz = 1\n", "z = 1\n", id="one that does nothing goes"),
        pytest.param(
            "if a:\n    f()\nelif b:\n    x = Variable(x)\n",
            "if a:\n    f()\nelif b:\n    pass\n",
            id="elif",
        ),
        pytest.param(
            "if cuda:\n    x = Variable(x.cuda())\nelse:\n    x = Variable(x)\n    y = Variable(y)\nz = 1\n",
            "if cuda:\n    x = x.cuda().detach()\nz = 1\n",
            id="an else that does nothing goes",
        ),
        pytest.param(
            "if cuda:\n    x = x.cuda()\nelse:\n    x = Variable(x)  # a batch\nz = 1\n",
            "if cuda:\n    x = x.cuda()\nelse:\n    pass  # a batch\nz = 1\n",
            id="but not one with a comment",
        ),
        pytest.param(
            "with torch.no_grad():\n    x = Variable(x)\n    y = Variable(y)\nz = 1\n",
            "z = 1\n",
            id="nor is a block left for it",
        ),
        pytest.param(
            "with torch.no_grad():\n    x = Variable(x)  # a batch\nz = 1\n",
            "with torch.no_grad():\n    pass  # a batch\nz = 1\n",
            id="but for a comment",
        ),
        pytest.param("y = f(Variable(x.data).detach())\n", "y = f(x.detach())\n", id="detached anyway"),
        pytest.param("y = f(Variable(x.data).cuda().detach())\n", "y = f(x.cuda().detach())\n", id="detached behind a move"),
        pytest.param("x = Variable(x)  # a batch\n", "# a batch\n", id="the comment behind a statement that goes"),
        pytest.param("x = Variable(x)  # type: ignore\ny = 1\n", "y = 1\n", id="but not one to a tool"),
        pytest.param("x, y = x, Variable(y)\n", "", id="one of two"),
        pytest.param(
            "from torchvision import datasets\n\nd = datasets.MNIST('.')\nx = Variable(d.data).float()\n",
            "from torchvision import datasets\n\nd = datasets.MNIST('.')\nx = d.data.float()\n",
            id="the data of a dataset",
        ),
        pytest.param("self.x = Variable(self.x)\n", "", id="an attribute"),
        pytest.param("x[0] = Variable(x[0])\n", "x[0] = x[0]\n", id="storing an item may do something"),
        pytest.param("x = Variable(y := f(x))\n", "x = (y := f(x))\n", id="walrus"),
        pytest.param("x = Variable(a, requires_grad=False) ** Variable(-b)\n", "x = a ** (-b)\n", id="power"),
        pytest.param("x = Variable(a if b else c)\n", "x = a if b else c\n", id="conditional expression"),
        pytest.param("f(*Variable(a or b))\n", "f(*(a or b))\n", id="star"),
        pytest.param(
            "x = Variable(torch.ones(3).cuda(), requires_grad=g)\n", "x = torch.ones(3).cuda().requires_grad_(g)\n", id="flag"
        ),
        pytest.param(
            "x = Variable(torch.ones(*n), requires_grad=g)\n", "x = torch.ones(*n, requires_grad=g)\n", id="starred sizes"
        ),
        pytest.param(
            "x = Variable(torch.ones(3, **k), requires_grad=g)\n",
            "x = torch.ones(3, **k).detach().requires_grad_(g)\n",
            id="unknown options",
        ),
        pytest.param("x = Variable(y, **k)\n", "x = Variable(y, **k)\n", id="options that are not written out"),
        pytest.param('def f(x: "Variable"): ...\n', 'def f(x: "Variable"): ...\n', id="a string that names nothing"),
        pytest.param(
            'from torch.autograd import Variable\n\n\ndef f(x: "Variable"): ...\n',
            'import torch\n\n\ndef f(x: "torch.Tensor"): ...\n',
            id="a string that names it",
        ),
    ],
)
def test_rewrites_variable(text: str, expected: str) -> None:
    assert fixed(text, "TPL101") == dedent(expected)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = Variable(y)", "`Variable(y)` is just `y` since torch 0.4, detached if it has a graph"),
        ("def f(y):\n    return Variable(y)", "`Variable(y)` is just `y` since torch 0.4, detached if it has a graph"),
        ("x = torch.cat((y, torch.ones(2)))\nz = Variable(x)", "`Variable(x)` is just `x`, detached, since torch 0.4"),
        ("z = Variable(torch.ones(2))", "`Variable(torch.ones(2))` is just `torch.ones(2)` since torch 0.4"),
        ("x = Variable(y.data)", "`Variable(y.data)`: detach the tensor instead, `y.detach()`"),
        (
            "from torchvision import datasets\nd = datasets.MNIST('.')\nx = Variable(d.data)",
            "`Variable(d.data)` is just `d.data` since torch 0.4, detached if it has a graph",
        ),
        (
            "x = Variable(nn.Linear(1, 1)(y))",
            "`Variable(nn.Linear(1, 1)(y))` silently cuts the graph behind `nn.Linear(1, 1)(y)`",
        ),
        ("x = Variable(np.ones(3))", "`Variable(np.ones(3))` raises a TypeError since torch 0.4: `np.ones(3)` is no tensor"),
        (
            "x = Variable(np.ones(3), requires_grad=True)",
            "`Variable(np.ones(3))` raises a TypeError since torch 0.4: `np.ones(3)` is no tensor",
        ),
        (
            "def f(y):\n    if isinstance(y, torch.Tensor):\n        return y\n    return Variable(y)",
            "`Variable(y)` raises a TypeError since torch 0.4: `y` is no tensor",
        ),
        (
            "def f(y):\n    if not torch.is_tensor(y):\n        return y\n    return Variable(y)",
            "`Variable(y)` is just `y`, detached, since torch 0.4",
        ),
        ("x = type(y) is Variable", "`type(…)` of a tensor is never `Variable`: it is `torch.Tensor`"),
    ],
)
def test_says_what_variable_does(line: str, message: str) -> None:
    assert [diagnostic.message for diagnostic in lint(Source(line + "\n"), rules("TPL101"))] == [message]


# --- volatile --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            """\
            x = Variable(x,
                         volatile=True)
            y = model(x)
            """,
            """\
            x = Variable(x)
            with torch.no_grad():
                y = model(x)
            """,
            id="on a line of its own",
        ),
        pytest.param(
            """\
            y = model(Variable(
                x,
                volatile=True,
            ), Variable(
                z,
                volatile=True,
            ))
            """,
            """\
            with torch.no_grad():
                y = model(Variable(
                    x,
                ), Variable(
                    z,
                ))
            """,
            id="several arguments of several lines",
        ),
        pytest.param(
            """\
            x.volatile = True
            y.volatile = True
            z = model(x, y)
            """,
            """\
            with torch.no_grad():
                z = model(x, y)
            """,
            id="two attributes",
        ),
        pytest.param(
            """\
            if evaluating:
                x.volatile = True
            z = model(x)
            """,
            """\
            if evaluating:
                pass
            with torch.no_grad():
                z = model(x)
            """,
            id="the only statement of a block",
        ),
        pytest.param(
            """\
            for x in loader:
                x = Variable(x, volatile=True)
                loss = criterion(model(x))
                loss.backward()
            """,
            """\
            for x in loader:
                x = Variable(x)
                loss = criterion(model(x))
                loss.backward()
            """,
            id="what is back-propagated is left alone",
        ),
        pytest.param(
            """\
            def trains(model, x):
                model(x).backward()

            x = Variable(x, volatile=True)
            trains(model, x)
            y = model(x)
            """,
            """\
            def trains(model, x):
                model(x).backward()

            x = Variable(x)
            trains(model, x)
            with torch.no_grad():
                y = model(x)
            """,
            id="a function of the file that trains",
        ),
        pytest.param(
            """\
            x = Variable(x, volatile=True)
            train_epoch(model, x)
            """,
            """\
            x = Variable(x)
            train_epoch(model, x)
            """,
            id="a function that is called so",
        ),
        pytest.param(
            """\
            x = Variable(x, volatile=True)
            model.train(False)
            for layer in layers:
                x = layer(x)
            model.train()
            """,
            """\
            x = Variable(x)
            model.train(False)
            with torch.no_grad():
                for layer in layers:
                    x = layer(x)
            model.train()
            """,
            id="switching the mode is no training",
        ),
        pytest.param(
            """\
            with torch.no_grad():
                x = Variable(x, volatile=True)
                y = model(x)
            """,
            """\
            with torch.no_grad():
                x = Variable(x)
                y = model(x)
            """,
            id="autograd is off already",
        ),
        pytest.param(
            "x = Variable(x, volatile=v.volatile)\ny = model(x)\n",
            "x = Variable(x)\ny = model(x)\n",
            id="another's flag, always off",
        ),
        pytest.param(
            "x = Variable(x, volatile=not train)\ny = model(x)\n",
            "x = Variable(x)\nwith torch.set_grad_enabled(train):\n    y = model(x)\n",
            id="a flag",
        ),
        pytest.param(
            "x = Variable(x, volatile=True); y = model(x)\n", "x = Variable(x); y = model(x)\n", id="no room for a block"
        ),
    ],
)
def test_rewrites_volatile(text: str, expected: str) -> None:
    assert fixed(text, "TPL103") == dedent(expected)


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("y = net(Variable(x, volatile=True))", "the graph is built; use `torch.no_grad()`"),
        ("y = net(Variable(x, volatile=flag))", "the graph is built; use `torch.no_grad()`"),
        ("y = net(Variable(x, volatile=False))", "drop it"),
        ("with torch.no_grad():\n    y = net(Variable(x, volatile=True))", "drop it"),
    ],
)
def test_volatile_is_dropped_where_a_graph_is_wanted_or_none_is_built(line: str, advice: str) -> None:
    text = f"import torch\nfrom torch.autograd import Variable\n\n{line}\n"
    [diagnostic] = lint(Source(text), rules("TPL103"))
    assert diagnostic.message == f"`volatile` has no effect since torch 0.4: {advice}"


ANNOTATED = """\
from typing import Optional, Union
import torch
from torch.autograd import Variable

class Field:
    def decode(self,
               scores: Union[Variable, torch.FloatTensor],
               mask: Optional[Variable] = None) -> Variable:
        if isinstance(mask, Variable):
            return scores
        return scores

def rest(x: Variable): return x
"""


def test_the_annotations_of_a_function_are_one_finding() -> None:
    assert found(ANNOTATED, "TPL101") == [7, 9, 13]
    expected = ANNOTATED.replace("Variable", "torch.Tensor").replace("from torch.autograd import torch.Tensor\n", "")
    assert fixed(ANNOTATED, "TPL101").replace("from torch.autograd import Variable\n", "") == expected


def test_an_annotation_that_is_silenced_stays() -> None:
    text = ANNOTATED.replace("torch.FloatTensor],", "torch.FloatTensor],  # noqa: TPL101")
    assert found(text, "TPL101") == [8, 9, 13]
    assert "scores: Union[Variable, torch.FloatTensor]" in fixed(text, "TPL101")


@pytest.mark.parametrize(
    ("made", "kept"), [("torch.FloatTensor(std.size()).normal_()", False), ("torch.FloatTensor(std)", True)]
)
def test_a_wrapper_of_what_was_just_made_goes(made: str, kept: bool) -> None:
    text = "import torch\nfrom torch.autograd import Variable\n\n\ndef sample(mean, std):\n"
    text += f"    eps = {made}\n    eps = Variable(eps)\n    return eps.mul(std).add_(mean)\n"
    assert ("eps = eps.detach()" in fixed(text, "TPL101")) == kept
