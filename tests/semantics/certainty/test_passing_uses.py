"""What only reads a tensor, and does not tell which object it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from marked import marked
from torchlint.semantics.certainty.passing_uses import FILLING, NEW_METHODS, PassingUses

torch = pytest.importorskip("torch")

HEADER = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def only_read(text: str, **also: bool) -> bool:
    semantics, [node] = marked(HEADER + text)
    return semantics.of(PassingUses).only_read(node, **also)


@pytest.mark.parametrize(
    "text",
    [
        "y = «x» + 1",
        "y = w * «x»[0]",
        "print(«x».shape)",
        "n = «x».size(0)",
        "n = «x».view(-1).sum()",
        "n = «x».cuda().mean()",
        "print(«x»)",
        "y = torch.exp(«x»)",
        "y = torch.cat([«x», w])",
        "loss = F.mse_loss(out, target=«x»)",
        "criterion = nn.MSELoss()\nloss = criterion(out, «x»)",
        "layer = nn.Linear(2, 2)\nout = layer(«x»)",
        "if «x» > 0: pass",
        "y = «x».detach()",
        "text = f'{«x»}'",
    ],
)
def test_reads(text: str) -> None:
    assert only_read(text)


@pytest.mark.parametrize(
    "text",
    [
        "y = «x»",
        "y = «x»[0]",
        "y = «x».view(-1)",
        "y = [«x»]",
        "f(«x»)",
        "return_ = (lambda: «x»)",
        "keep.append(«x»)",
        "«x».grad = y",
        "y = «x».grad",
        "«x».data = y",
        "«x».requires_grad = True",
        "«x».requires_grad_()",
        "«x».unsqueeze_(0)",
        "«x».fill_(1)",
        "«x»[0] = 1",
        "«x».register_hook(h)",
        "known = «x» is y",
        "known = «x» in y",
        "names[«x»] = 1",
        "for row in «x»: pass",
        "y = torch.exp(«x», out=w)",
        "y = F.relu(«x», inplace=True)",
        "y = F.dropout(«x»)",
        "y = torch.flatten(«x»)",
        "y = «x» or w",
        "def f(model): return model(«x»)",
    ],
)
def test_may_do_more(text: str) -> None:
    assert not only_read(text)


@pytest.mark.parametrize("text", ["«x»[0] = 1", "«x»[i][j] += 2.0", "«x».fill_(1)", "«x».view(-1)[0] = len(y)", "«x».zero_()"])
def test_fills_with_numbers(text: str) -> None:
    assert only_read(text, also_fill=True) and not only_read(text)


@pytest.mark.parametrize(
    "text", ["«x»[0] = y", "«x».fill_(y)", "«x»[0] += y", "«x».copy_(y)", "«x».unsqueeze_(0)", "y = «x».zero_()"]
)
def test_brings_more_than_numbers(text: str) -> None:
    assert not only_read(text, also_fill=True)


# --- run on torch ----------------------------------------------------------------------------------------------------

GIVEN: list[tuple[Any, ...]] = [(), (1,), (0,), (torch.ones(2, 2),), (1, 0), (torch.ones(2, 2) > 0, 1.0)]


def results(function: Callable[..., Any], x: Any) -> list[Any]:
    found = []
    for given in GIVEN:
        try:
            value = function(x, *given)
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError, AttributeError):
            continue
        found += [each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, torch.Tensor)]
    return found


@pytest.mark.parametrize("method", sorted(NEW_METHODS))
def test_methods_give_other_objects_and_change_nothing(method: str) -> None:
    x = torch.rand(2, 2)
    before, version = x.clone(), x._version
    given = results(lambda x, *more: getattr(x, method)(*more), x)
    assert all(each is not x and each.data_ptr() not in (x.data_ptr(),) for each in given if each.numel())
    assert x._version == version and x.equal(before) and not x.requires_grad and x.shape == (2, 2)


@pytest.mark.parametrize("method", sorted(FILLING))
def test_what_fills_refuses_tensors_with_a_graph_or_takes_them_over(method: str) -> None:
    graph = torch.tensor(0.5, requires_grad=True) * 1
    for value in results(lambda x, *more: getattr(x, method)(*more), torch.zeros(2, 2)):
        assert not value.requires_grad
    try:
        filled = getattr(torch.zeros(2, 2), method)(graph)
    except TypeError:
        return
    assert filled.requires_grad == (method != "zero_")
