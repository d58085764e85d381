"""Whether an evaluation is the same without a graph, and the reason where it may not be."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.unrecorded.unneeded_graphs import UnneededGraphs
from torchlint.text.source import Source

START = """
import math
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
loader = [(torch.randn(4, 3), torch.randint(0, 2, (4,)))]
criterion = nn.CrossEntropyLoss()
"""


def of_function(body: str, *, before: str = "", after: str = "print(evaluate(model, loader))") -> Fact:
    """What is known of a function ``evaluate(model, loader)`` of a program."""
    text = f"{START}{dedent(before)}\ndef evaluate(model, loader):\n{indent(dedent(body).strip(), '    ')}\n\n{dedent(after)}"
    semantics = Semantics(Source(text).tree)
    [function] = [each for each in semantics.tree.of_type(ast.FunctionDef) if each.name == "evaluate"]
    return semantics.of(UnneededGraphs).of_function(function)


def of_loop(body: str, after: str) -> Fact:
    """What is known of a loop at the top level of a program."""
    text = f"{START}total = 0.0\nresults = []\nfor x, y in loader:\n{indent(dedent(body).strip(), '    ')}\n{dedent(after)}"
    semantics = Semantics(Source(text).tree)
    [loop] = [each for each in semantics.tree.module.body if isinstance(each, ast.For)]
    return semantics.of(UnneededGraphs).of_statements([loop])


COUNTED = "hits = 0\nfor x, y in loader:\n    hits += (model(x).argmax(1) == y).sum().item()\nreturn hits"


@pytest.mark.parametrize(
    "body",
    [
        COUNTED,
        "total = 0.0\nfor x, y in loader:\n    total += criterion(model(x), y).item() * x.size(0)\nreturn total / len(loader)",
        "found = []\nfor x, y in loader:\n    _, best = torch.max(model(x), 1)\n    found.extend(best.tolist())\nreturn found",
        "parts = []\nfor x, y in loader:\n    parts.append(model(x).detach().cpu().numpy())\nreturn parts",
        "parts = []\nfor x, y in loader:\n    parts.append(model(x))\nreturn torch.cat(parts).mean().item()",
        "seen = torch.zeros(2)\nfor x, y in loader:\n    seen[0] += (model(x).argmax(1) == 0).sum()\nreturn seen",
        "for x, y in loader:\n    print(criterion(model(x), y))",
        "total = 0\nfor x, y in loader:\n    total = total + criterion(model(x), y)\nreturn math.exp(float(total))",
        "for x, y in loader:\n    print('loss %.3f' % criterion(model(x), y), f'{model(x).mean()}')",
    ],
)
def test_functions_of_numbers_are_certain(body: str) -> None:
    assert of_function(body).is_certain


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("return [model(x) for x, y in loader]", "is returned, and may carry a graph"),
        ("total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)\nreturn total", "`total` is returned"),
        ("parts = []\nfor x, y in loader:\n    parts.append(model(x))\nreturn parts", "`parts` is returned"),
        ("parts = []\nmore = parts\nfor x, y in loader:\n    more.append(model(x))\nreturn parts", "`more.append` hands out"),
        ("kept, t = [], torch.zeros(1)\nkept.append(t)\nt += model(loader[0][0]).sum()\nreturn kept", "`kept` is returned"),
        ("a = b = []\na.append(model(loader[0][0]))\nreturn b", "`a.append` hands out"),
        ("a = [0]\na[0], b = model(loader[0][0]), 1\nreturn a", "`a` is returned"),
        ("a = torch.zeros(4, 2)\nb = a[0]\nb += model(loader[0][0])[0]\nreturn a", "`b` may be a tensor of others"),
        ("with torch.enable_grad():\n    return model(loader[0][0]).sum().item()", "may work otherwise without a graph"),
        ("parts = {}\nfor x, y in loader:\n    parts[0] = model(x)\nreturn parts", "`parts` is returned"),
        ("return max(model(x) for x, y in loader)", "is returned"),
        ("x = loader[0][0]\nreturn torch.max(model(x), model(x))[1]", "is returned"),
        ("x = loader[0][0]\nreturn lambda: model(x)", "is returned"),
        ("x = loader[0][0]\nmodel.last = model(x)", "`model.last` keeps what may carry a graph"),
        ("x = loader[0][0]\nmodel.a, model.b = 1, model(x)", "keeps what may carry a graph"),
        ("x = loader[0][0]\nfor model.last in [model(x)]:\n    pass", "`model.last` keeps what may carry a graph"),
        ("global best\nbest = model(loader[0][0])", "`best` keeps what may carry a graph"),
        ("loader[0] = model(loader[0][0])", "`loader[0]` keeps what may carry a graph"),
        ("loader.append(model(loader[0][0]))", "`loader.append` hands out"),
        ("loader[0][0].copy_(model(loader[0][0]))", "changes what may carry a graph"),
        ("x = loader[0][0]\nx += model(x)", "`x` may be a tensor of others"),
        ("x = loader[0][0].requires_grad_()\nmodel(x).sum().backward()\nreturn x.grad.norm().item()", ""),
        ("x = loader[0][0]\nreturn torch.autograd.grad(model(x).sum(), model[0].weight)[0].norm().item()", "without a graph"),
        ("return model(loader[0][0]).requires_grad", "asks for a graph"),
        ("try:\n    return model(loader[0][0]).sum().item()\nexcept RuntimeError:\n    return 0", "an error is awaited"),
    ],
)
def test_functions_that_hand_out_or_need_graphs(body: str, doubt: str) -> None:
    found = of_function(body)
    assert not found.is_certain
    assert doubt in found.doubt


@pytest.mark.parametrize(
    ("before", "after", "doubt"),
    [
        ("", "def run():\n    print(evaluate(model, loader))", "may be imported"),
        ("from engine import fit", "fit(model)\nprint(evaluate(model, loader))", "the code uses `fit` of another file"),
        ("from engine import *", "print(evaluate(model, loader))", "the code uses `*` of another file"),
        ("", "print(Net(), evaluate(model, loader))", "nothing shows what `Net` is"),
        ("import inspect", "print(inspect.signature(evaluate), evaluate(model, loader))", "`inspect`"),
        ("", "print(evaluate.__name__, evaluate(model, loader))", "`evaluate` is handed on"),
        ("", "print(list(map(evaluate, [model], [loader])))", "`evaluate` is handed on"),
        ("", "model[0].register_forward_hook(print)\nprint(evaluate(model, loader))", "may see what a model computes"),
        ("", "model.forward = lambda x: x\nprint(evaluate(model, loader))", "`model.forward` is replaced"),
        ("", "nn.utils.weight_norm(model[0])\nprint(evaluate(model, loader))", "may change what a layer does"),
        ("", "model = nn.TransformerEncoderLayer(8, 2)\nprint(evaluate(model, loader))", "may change what a layer does"),
        ("", "torch.set_grad_enabled(False)\nprint(evaluate(model, loader))", "may change what a layer does"),
        ("", "model = torch.load('net.pt')\nprint(evaluate(model, loader))", "may change what a layer does"),
        ("", "model = torch.jit.script(model)\nprint(evaluate(model, loader))", "may change what a layer does"),
        ("", "setattr(model, 'forward', print)\nprint(evaluate(model, loader))", "`setattr` may run any code"),
        ("kept = []\nkeep = kept.append", "print(evaluate(model, loader))", "`kept.append` is handed on"),
        (
            "class Net(nn.Module):\n    def forward(self, x):\n        self.out = x * 2\n        return x",
            "model = Net()\nprint(evaluate(model, loader))",
            "`self.out` keeps what may carry a graph",
        ),
        (
            "class Net(nn.Module):\n    def forward(self, x):\n        return torch.autograd.grad(x.sum(), x)[0]",
            "print(evaluate(Net(), loader))",
            "may work otherwise without a graph",
        ),
        (
            "class Net(nn.Module):\n    def forward(self, x):\n        return x if x.requires_grad else -x",
            "print(evaluate(Net(), loader))",
            "`x.requires_grad` asks for a graph",
        ),
        (
            "class Row:\n    def __getitem__(self, i):\n        x = torch.ones(1)\n        x.backward()\n        return x, x",
            "print(evaluate(model, Row()))",
            "asks for a graph",
        ),
    ],
)
def test_programs_in_which_more_may_happen(before: str, after: str, doubt: str) -> None:
    found = of_function(COUNTED, before=before, after=after)
    assert not found.is_certain
    assert doubt in found.doubt


def test_training_elsewhere_in_the_program_is_no_doubt() -> None:
    trained = """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        print(evaluate(model, loader))
        """
    assert of_function(COUNTED, after=trained).is_certain


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("total += criterion(model(x), y)", "print(1)"),
        ("total += criterion(model(x), y).item()", "print(total)"),
        ("out = model(x)\nresults.append(out.argmax(1))", "print(results)"),
        ("out = model(x)", "print(criterion(out, y).item())"),
        ("out = model(x)", "print(out.data.numpy(), out[0].tolist())"),
    ],
)
def test_statements_that_leave_numbers_are_certain(body: str, after: str) -> None:
    assert of_loop(body, after).is_certain


@pytest.mark.parametrize(
    ("body", "after", "doubt"),
    [
        ("out = model(x)", "print(out)", "`out` is read afterwards"),
        ("out = model(x)", "out.sum().backward()", "`out` is read afterwards"),
        ("out = model(x)", "def later():\n    return out\nprint(later())", "`out` is read afterwards"),
        ("total = total + criterion(model(x), y)", "print(total)", "`total` is read afterwards"),
        ("results.append(model(x))", "print(results)", "`results.append` hands out"),
        ("results += [model(x)]", "print(results)", "`results` may be a tensor of others"),
    ],
)
def test_statements_that_leave_graphs(body: str, after: str, doubt: str) -> None:
    found = of_loop(body, after)
    assert not found.is_certain
    assert doubt in found.doubt


LOSS = "x, y = loader[0]\nloss = criterion(model(x), y)\nscores = model(x)\n"


@pytest.mark.parametrize(
    "body",
    [
        "print(scores, f'{scores}', 'scores ' + str(scores), '{}'.format(scores), '%s' % scores)",
        "report.append(f'{loss:.3f}')\nreport.append(f'{len(y)} {scores.shape}')",
        "report.append('{:.3f}'.format(loss))\nreport.append('{}'.format(loss))\nreport.append('%.3f' % loss)",
        "report.append(format(loss))\nreport.append(format(scores[0, 0], '.3f'))\nreport.append(str(loss.item()))",
        "if len(x) > 9:\n    raise ValueError(f'too many: {scores}')\nassert len(x) < 9, f'too many: {scores}'",
        "bar.set_description(f'{scores}')\nreport.append(float(loss))",
    ],
)
def test_graphs_that_are_shown_or_make_numbers(body: str) -> None:
    before = "from tqdm import tqdm\nbar = tqdm(loader)\nreport = []"
    assert of_function(LOSS + body, before=before, after="evaluate(model, loader)\nprint(report)").is_certain


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("report.append(f'{scores}')", "the text of `scores` may tell of the graph"),
        ("report.append(f'{loss!r}')", "the text of `loss` may tell of the graph"),
        ("report.append('{}, {}'.format(1, scores))", "may tell of the graph"),
        ("report.append('{!r}'.format(loss))", "may tell of the graph"),
        ("report.append('{.requires_grad}'.format(loss))", "may tell of the graph"),
        ("report.append('{:.3f} {0}'.format(scores))", "may tell of the graph"),
        ("print(list(map('{}'.format, scores)))", "may tell of the graph"),
        ("print(loss.__repr__())", "may need the graph"),
        ("report.append('%s' % loss)", "may tell of the graph"),
        ("report.append(str(loss))", "the text of `str(loss)` may tell of the graph"),
        ("print(list(map(str, scores)))", "may tell of the graph"),
        ("text = str(loss)\nprint(text)", "may tell of the graph"),
        ("if str(loss).endswith('grad_fn'):\n    print(1)", "may tell of the graph"),
        ("print(loss, file=sys.stderr)", "may tell of the graph"),
        ("logging.info('loss %s', loss)", "may tell of the graph"),
    ],
)
def test_texts_that_are_kept_or_compared(body: str, doubt: str) -> None:
    found = of_function(
        LOSS + body, before="import logging\nimport sys\nreport = []", after="evaluate(model, loader)\nprint(report)"
    )
    assert not found.is_certain
    assert doubt in found.doubt


RECORDED = "with warnings.catch_warnings(record=True) as caught:\n    evaluate(model, loader)"


@pytest.mark.parametrize(
    ("body", "before", "after", "doubt"),
    [
        ("print(float(loss))", "import warnings", RECORDED, "`warnings.catch_warnings` may take notice"),
        ("print(math.exp(loss))", "import warnings", RECORDED, "`warnings.catch_warnings` may take notice"),
        ("print('%.3f' % loss)", "import warnings", RECORDED, "`warnings.catch_warnings` may take notice"),
        ("print(torch.tensor([loss, loss]))", "import warnings", RECORDED, "`warnings.catch_warnings` may take notice"),
        ("print(loss.item(), f'{loss:.3f}')", "import warnings", RECORDED, ""),
        (
            "print(loss)",
            "import contextlib\nf = open('a', 'w')",
            "with contextlib.redirect_stdout(f):\n    evaluate()",
            "the text",
        ),
        ("print(f(loss))", "from operator import attrgetter\nf = attrgetter('grad_fn.next')", "", "`attrgetter` may ask"),
        ("print(f(loss))", "from operator import attrgetter\nf = attrgetter('shape')", "", ""),
        ("print(f(loss))", "import operator\nf = operator.methodcaller(name)\nname = 'item'", "", "may ask for a graph"),
        ("print(once(1))", "import functools\n@functools.cache\ndef once(n): return model[0].weight.sum()", "", "keeps what"),
        ("print(once(1))", "import functools\n@functools.cache\ndef once(n): return torch.arange(n)", "", ""),
        ("print(once())", "import functools\nonce = functools.cache(lambda: model[0].weight.sum())", "", "may keep"),
        ("match loss:\n    case torch.Tensor(requires_grad=True):\n        print(1)", "", "", "asks for a graph"),
    ],
)
def test_what_notices_graphs_without_naming_them(body: str, before: str, after: str, doubt: str) -> None:
    found = of_function(LOSS + body, before=before, after=f"{after or 'evaluate(model, loader)'}\nprint(model)")
    assert found.is_certain is not bool(doubt)
    assert doubt in (found.doubt or "")
