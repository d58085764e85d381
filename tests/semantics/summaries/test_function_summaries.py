"""What is kept of a function: its acts on its arguments, and what it gives."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from torchlint.semantics.summaries.functions import summed_up
from torchlint.semantics.summaries.making import summary_of
from torchlint.semantics.summaries.summary import Act, FunctionSummary, Made


def function(text: str) -> FunctionSummary:
    node = ast.parse(dedent(text)).body[-1]
    assert isinstance(node, ast.FunctionDef)
    return summed_up(node)


def acts(body: str, parameters: str = "p, q") -> str:
    """In words, what a function with this body does with ``p``: a question mark behind what it does not always do."""
    found = dict(function(f"def f({parameters}):\n{indent(dedent(body), '    ')}").acts).get("p", ())
    return " ".join(
        f"{act.what}{'' if act.sure or act.what == 'other' else '?'}{f'({act.to}:{act.place})' if act.to else ''}"
        for act in found
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p.backward()", "backward"),
        ("(p / 4).backward()", "backward"),
        ("q.scale(p).backward()", "backward"),
        ("accelerator.backward(p)", "backward"),
        ("p = p / 4\np.backward()", "backward"),
        ("p.step()", "step"),
        ("q.step(p)\nq.update()", "step"),
        ("p.zero_grad(set_to_none=True)", "zero"),
        ("p.eval()", "eval"),
        ("p.train(False)", "eval"),
        ("p.train(q)", "mode"),
        ("p.training = False", "mode"),
        ("p = p.cuda().eval()", "eval"),
        ("if q:\n    p.eval()", "eval?"),
        ("if q:\n    return\np.eval()", "eval?"),
        ("for x in q:\n    p.train()\np.eval()", "train? eval"),
        ("with torch.no_grad():\n    p.eval()", "eval"),
        ("try:\n    p.eval()\nexcept ValueError:\n    p.train()", "eval train?"),
        ("return p(q)", ""),
        ("print(p.training, len(q))", ""),
        ("for group in p.param_groups:\n    group['lr'] = q", ""),
        ("return sum(each.numel() for each in p.parameters())", ""),
        ("keep.append(p)", "give(keep.append:0)"),
        ("helpers.train(p)", "give(helpers.train:0)"),
        ("from .h import run\nrun(1, model=p)", "give(@.h.run:model)"),
        ("torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0)", "give(torch.nn.utils.clip_grad_norm_:)"),
        # what is not understood
        ("model = p\nmodel.eval()", "other"),
        ("keep['model'] = p", "other"),
        ("self.model = p", "other"),
        ("p.wrap_up()", "other"),
        ("p.module.eval()", "other"),
        ("for m in p.modules():\n    m.eval()", "other"),
        ("[m.eval() for m in p.modules()]", "other"),
        ("for x in p.parameters():\n    x.grad = None", "other"),
        ("for x in p.parameters():\n    x.grad.zero_()", "other"),
        ("clear_gradients(q)", "other"),
        ("def later():\n    p.eval()\nreturn later", "other"),
        ("return lambda: p.eval()", "other"),
        ("p = wrap(p)\np.eval()", "other"),
        ("[p] = q\np.eval()", "other"),
        ("f(*[p])", "other"),
        ("f([p])", "other"),
        ("q.optimizer.zero_grad()", "other"),
        ("match q:\n    case 1:\n        p.eval()", "other"),
    ],
)
def test_acts(body: str, expected: str) -> None:
    assert acts(body) == expected


@pytest.mark.parametrize(
    "text",
    [
        "def f(p):\n    p.eval()\n    yield\n",
        "async def f(p):\n    p.eval()\n",
        "@contextmanager\ndef f(p):\n    p.eval()\n",
        "def f(p):\n    global model\n    model = p\n",
    ],
)
def test_of_functions_that_do_not_just_run_nothing_is_known(text: str) -> None:
    [(_, bound)] = summary_of(ast.parse(text)).names
    assert bound.function is not None
    assert bound.function.hidden
    assert bound.function.acts == ()


@pytest.mark.parametrize("rest", ["*rest", "**rest"])
def test_what_takes_any_arguments_is_known_by_what_it_gives(rest: str) -> None:
    """Most factories of models do: ``def resnet18(pretrained=False, **kwargs)``."""
    [(_, bound)] = summary_of(ast.parse(f"def f(p, {rest}):\n    p.eval()\n    return Net({rest})\n")).names
    assert bound.function is not None
    assert not bound.function.hidden
    assert bound.function.gives.by == ("Net",)
    assert bound.function.acts == (("p", (Act("other"),)),)


NET, OPTIMIZER, UNKNOWN = Made(("Net",)), Made(("torch.optim.SGD",)), Made()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return Net(q)", NET),
        ("return Net(q).cuda().eval()", NET),
        ("m = Net()\nm.apply(q)\nreturn m", NET),
        ("m = Net()\nm = m.cuda()\nreturn m", NET),
        ("if q:\n    m = Net()\nelse:\n    m = Other()\nreturn m", Made(("Net", "Other"))),
        ("if q:\n    return Net()\nreturn None", NET),
        ("m = None\nif q:\n    m = Net()\nreturn m", NET),
        ("m = Net()\nreturn m, torch.optim.SGD(m.parameters(), q)", Made(items=(NET, OPTIMIZER))),
        ("return Net() if q else Other()", Made(("Net", "Other"))),
        ("from .n import Net\nreturn Net()", Made(("@.n.Net",))),
        ("return registry[q](p)", Made(("registry.*",))),
        # what is not understood
        ("return p", UNKNOWN),
        ("return p(q)", UNKNOWN),
        ("if q:\n    return Net()\nreturn p", UNKNOWN),
        ("m = Net()\nif q:\n    m = p\nreturn m", UNKNOWN),
        ("for m in q:\n    pass\nreturn m", UNKNOWN),
        ("m = Net()\nm += 1\nreturn m", UNKNOWN),
        ("pass", UNKNOWN),
    ],
)
def test_what_is_given(body: str, expected: Made) -> None:
    assert function(f"def f(p, q):\n{indent(body, '    ')}").gives == expected


def test_a_summary_says_the_same_of_what_says_the_same() -> None:
    one = summary_of(ast.parse("import torch\ndef f(p):\n    '''What it does.'''\n    p.eval()\n\n\n\nx = 3\n"))
    other = summary_of(ast.parse("import torch\n# a comment\ndef f(p): p.eval()\nx = 4\n"))
    assert one.digest == other.digest
    changed = summary_of(ast.parse("import torch\ndef f(p): p.train()\nx = 4\n"))
    assert one.digest != changed.digest


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return torch.autograd.grad(p, q)[0]", True),
        ("for _ in range(3):\n    p = p - grad(p.sum(), inputs=q)[0]", True),
        ("return grad(p)", False),  # of a library whose like gives a function
        ("with torch.enable_grad():\n    return torch.autograd.grad(p, q)", False),
    ],
)
def test_what_asks_autograd_for_gradients(body: str, expected: bool) -> None:
    assert function(f"def f(p, q):\n{indent(body, '    ')}").differentiates is expected
