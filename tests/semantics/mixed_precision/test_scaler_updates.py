"""Scalers that nothing updates, and backward passes in autocast regions: the marked calls, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.mixed_precision.autocasts import AutocastBackwards
from torchlint.semantics.mixed_precision.updating import ScalerUpdates

LOOP = """
import torch
from torch.cuda.amp import GradScaler
from elsewhere import helper
def train(model, optimizer, loader):
    scaler = GradScaler()
    for x in loader:
        scaler.scale(model(x).sum()).backward()
        {step}
        {rest}
"""


def missing(step: str, rest: str) -> list[bool]:
    """Whether each step without an update is a statement that the update can follow."""
    semantics, nodes = marked(LOOP.format(step=step, rest=rest))
    found = semantics.of(ScalerUpdates).missing
    assert list(found) == nodes
    return [each.behind is not None for each in found.values()]


@pytest.mark.parametrize("rest", ["pass", "print(scaler.get_scale())", "torch.save(scaler.state_dict(), 'scaler')"])
def test_a_scaler_that_nothing_updates(rest: str) -> None:
    assert missing("«scaler.step(optimizer)»", rest) == [True]
    assert missing("done = «scaler.step(optimizer)»", rest) == [False]


@pytest.mark.parametrize("rest", ["scaler.update()", "helper(scaler)", "state = {'scaler': scaler}", "return scaler"])
def test_a_scaler_that_something_updates_or_may(rest: str) -> None:
    assert missing("scaler.step(optimizer)", rest) == []


def test_a_single_step_needs_no_update() -> None:
    semantics, _ = marked("from torch.amp import GradScaler\nscaler = GradScaler()\nscaler.step(optimizer)\n")
    assert semantics.of(ScalerUpdates).missing == {}


def regions(snippet: str) -> list[bool]:
    """Whether the region of each marked backward computes a part in float32."""
    semantics, nodes = marked("import torch\nfrom torch.cuda.amp import autocast\n" + snippet)
    found = semantics.of(AutocastBackwards).found
    assert list(found) == nodes
    return [each.float32 for each in found.values() if isinstance(each.region, ast.With)]


def test_a_backward_pass_in_a_region() -> None:
    assert regions("with autocast():\n    loss = model(x)\n    «loss.backward()»\n") == [False]
    float32 = "with torch.autocast('cpu'):\n    with torch.autocast('cpu', enabled=False):\n        loss = model(x)\n"
    assert regions(float32 + "    «loss.backward()»\n") == [True]


@pytest.mark.parametrize(
    "snippet",
    [
        "with autocast():\n    loss = model(x)\nloss.backward()\n",
        "with autocast(enabled=False):\n    loss = model(x)\n    loss.backward()\n",
        "with autocast():\n    def run(loss):\n        loss.backward()\n",
        "with other():\n    loss = model(x)\n    loss.backward()\n",
    ],
)
def test_a_backward_pass_outside(snippet: str) -> None:
    assert regions(snippet) == []


@pytest.mark.parametrize(
    ("region", "tail", "behind"),
    [
        ("loss = model(x)\n    «loss.backward()»\nstep()", ["loss.backward()"], "step()"),
        ("loss = model(x)\n    «loss.backward()»\n    step()\nlast()", ["loss.backward()", "step()"], "last()"),
        ("loss = model(x)\n    «loss.backward()»\n    n = loss.item()\nlast()", [], "last()"),
        ("«model(x).backward()»\nlast()", [], "last()"),
        ("loss = model(x)\n    «loss.backward()»", ["loss.backward()"], None),
    ],
)
def test_what_can_leave_the_region(region: str, tail: list[str], behind: str | None) -> None:
    text = f"import torch\nwith torch.autocast('cuda'):\n    {region}\n"
    semantics, nodes = marked(text)
    found = semantics.of(AutocastBackwards).found
    assert list(found) == nodes
    (each,) = found.values()
    assert [ast.unparse(part) for part in each.tail] == tail
    assert (ast.unparse(each.behind) if each.behind is not None else None) == behind
