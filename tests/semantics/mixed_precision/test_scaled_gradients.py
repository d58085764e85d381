"""What uses scaled gradients as if they were not: of each snippet the marked call does, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.mixed_precision.scaling import ScaledGradients

HEAD = """\
import torch
from torch import optim
from torch.nn.utils import clip_grad_norm_
from elsewhere import helper
def train(model, optimizer: optim.Optimizer, scaler, x, amp, n):
"""


def indented(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.split("\n"))


def clipped(body: str) -> dict[ast.Call, str | None]:
    """The calls that clip scaled gradients, each with the optimizer that is to be unscaled."""
    semantics, nodes = marked(indented(body))
    found = semantics.of(ScaledGradients).clipped
    assert list(found) == nodes
    return {call: ast.unparse(each.optimizer) if each.optimizer else None for call, each in found.items()}


def stepped(body: str) -> int:
    semantics, nodes = marked(indented(body))
    found = semantics.of(ScaledGradients).stepped
    assert list(found) == nodes
    return len(found)


BACKWARD = "scaler.scale(model(x)).backward()\n"
CLIP = "«clip_grad_norm_(model.parameters(), 1)»\n"
UNMARKED = "clip_grad_norm_(model.parameters(), 1)\n"
STEP = "scaler.step(optimizer)\nscaler.update()"


@pytest.mark.parametrize(
    ("body", "optimizer"),
    [
        (BACKWARD + CLIP + STEP, "optimizer"),
        ("loss = scaler.scale(model(x))\nloss.backward()\n" + CLIP + STEP, "optimizer"),
        (BACKWARD + "if n:\n    " + CLIP + STEP, "optimizer"),
        (BACKWARD + "print(scaler)\n" + CLIP + STEP, "optimizer"),
        (BACKWARD + CLIP + "scaler.unscale_(optimizer)\n" + STEP, None),
        (BACKWARD + CLIP + "scaler.step(optimizer)\nscaler.step(amp)\nscaler.update()", None),
        ("for y in x:\n    " + BACKWARD + "    " + CLIP + STEP, None),
        (
            "if amp:\n    " + BACKWARD + "else:\n    model(x).backward()\n" + CLIP + "if amp:\n    scaler.step(optimizer)",
            "optimizer",
        ),
    ],
)
def test_clipping_before_unscaling(body: str, optimizer: str | None) -> None:
    assert list(clipped(body).values()) == [optimizer]


@pytest.mark.parametrize(
    "body",
    [
        BACKWARD + "scaler.unscale_(optimizer)\n" + UNMARKED + STEP,
        BACKWARD + "if n:\n    scaler.unscale_(optimizer)\n" + UNMARKED + STEP,
        BACKWARD + "helper(scaler)\n" + UNMARKED + STEP,
        BACKWARD + "n = scaler.get_scale()\n" + UNMARKED + STEP,
        BACKWARD + UNMARKED.replace("1)", "scaler.get_scale())") + STEP,
        BACKWARD + "scaler.step(optimizer)\n" + UNMARKED + "scaler.update()",
        BACKWARD + UNMARKED + "optimizer.zero_grad()",
        "model(x).backward()\n" + UNMARKED + STEP,
        "if amp:\n    " + BACKWARD + "if not amp:\n    " + UNMARKED + STEP,
        "if scaler is not None:\n    " + BACKWARD + "if not n.fp16:\n    " + UNMARKED + STEP,
    ],
)
def test_clipping_of_what_is_not_scaled_or_not_known_to_be(body: str) -> None:
    assert clipped(body) == {}


@pytest.mark.parametrize(
    "body",
    [
        BACKWARD + "«optimizer.step()»\nscaler.update()",
        BACKWARD + UNMARKED + "«optimizer.step()»",
        "other = optim.SGD(x.parameters())\nown = optim.SGD(model.parameters())\n" + BACKWARD + "scaler.step(other)\n"
        "scaler.scale(model(x)).backward()\n«own.step()»",
    ],
)
def test_plain_steps_of_scaled_gradients(body: str) -> None:
    assert stepped(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        BACKWARD + STEP,
        BACKWARD + "scaler.unscale_(optimizer)\noptimizer.step()",
        BACKWARD + "if amp:\n    scaler.step(optimizer)\nelse:\n    optimizer.step()",
        BACKWARD + "optimizer.zero_grad()\noptimizer.step()",
        BACKWARD + "helper(scaler)\noptimizer.step()",
        "if amp:\n    " + BACKWARD + "else:\n    model(x).backward()\nif not amp:\n    optimizer.step()",
        "scaler = torch.amp.GradScaler(enabled=False)\n" + BACKWARD + "optimizer.step()",
        "scaler = helper()\n" + BACKWARD + "optimizer.step()",
    ],
)
def test_plain_steps_of_what_is_not_known_to_be_scaled(body: str) -> None:
    assert stepped(body) == 0
