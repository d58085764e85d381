"""What `KeptValues` takes for uses of the value alone gives the same of a tensor with graph and of the same one detached."""

from __future__ import annotations

import builtins
import math
import re
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torchlint.semantics.graphs import kept_changes, kept_values  # noqa: E402


def pair() -> list[Any]:
    """A computed number that carries graph, and the same one detached."""
    computed = torch.tensor(0.75, requires_grad=True) * 0.5
    return [computed, computed.detach()]


def told(value: object) -> str:
    """What a result is, less what its representation says of a graph."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
    return f"{type(value).__name__} {re.sub(r', grad_fn=<[^>]*>', '', str(value))}"


@pytest.mark.parametrize("name", sorted(kept_values._PLAIN))
def test_attributes(name: str) -> None:
    with_graph, detached = pair()
    assert told(getattr(with_graph, name)) == told(getattr(detached, name))


@pytest.mark.parametrize("name", sorted(kept_values._PLAIN_METHODS))
def test_methods_that_leave_the_graph(name: str) -> None:
    with_graph, detached = pair()
    result = getattr(with_graph, name)()
    assert told(result) == told(getattr(detached, name)())
    assert not getattr(result, "requires_grad", False)


@pytest.mark.parametrize("name", sorted(kept_changes.CHANGING - {"zero_"}))
def test_changes_in_place(name: str) -> None:
    with_graph, detached = pair()
    seen = [
        told(getattr(tensor.clone(), name)(*([0.5] if name != "clamp_" else [0, 0.1]))) for tensor in (with_graph, detached)
    ]
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", sorted(name.removeprefix("builtins.") for name in kept_changes.ENDS))
def test_builtins_that_end_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    function = getattr(builtins, name)
    seen = []
    for value in pair():
        arguments = [[value]] if name == "len" else [value, torch.Tensor] if name == "isinstance" else [value]
        seen.append(told(function(*arguments)) + re.sub(r", grad_fn=<[^>]*>", "", capsys.readouterr().out))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "name", sorted(name.removeprefix("builtins.") for name in kept_changes.HANDS_ON | kept_changes.COMPUTES)
)
def test_builtins_that_hand_it_on(name: str) -> None:
    function = getattr(builtins, name)
    seen = []
    for value in pair():
        values = [value, value + 1]
        result = function(
            iter(values)
            if name == "next"
            else {"a": value}
            if name == "dict"
            else value
            if name in ("abs", "round")
            else values
        )
        parts = (
            list(result.values())
            if isinstance(result, dict)
            else list(result)
            if name in ("reversed", "zip", "iter", "enumerate")
            else [result]
        )
        seen.append(
            [told(part) if isinstance(part, torch.Tensor) else re.sub(r", grad_fn=<[^>]*>", "", str(part)) for part in parts]
        )
    assert seen[0] == seen[1]


def test_formats_comparisons_and_functions_of_math() -> None:
    with_graph, detached = pair()
    for use in (
        lambda x: f"{x:.3f} {x}",
        lambda x: "{:5.1f} {}".format(*[x, x]),
        lambda x: " ".join("%.2f" % each for each in [x, x]),  # noqa: UP031
        lambda x: (x > 0.1, x == 0.375, bool(x), not x),
        lambda x: (math.exp(x), math.isnan(x)),
        lambda x: (x / 0).item(),
        lambda x: torch.stack([x, x]).std().item(),
    ):
        assert str(use(with_graph)) == str(use(detached))
