"""Whether a program does without the gradients of what is frozen."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.certainty.unneeded_gradients import UnneededGradients

HEADER = "import torch\nfrom torch import nn\n\nbody = nn.Sequential(nn.Linear(2, 2))\nhead = nn.Linear(2, 1)\n"
FREEZE = HEADER + "«body».requires_grad = False\nnet = nn.Sequential(body, head)\n"
LOOP = HEADER + "for p in body.parameters():\n    «p».requires_grad = False\n"
PICKED = "torch.optim.SGD([p for p in body.parameters() if p.requires_grad])"
BACKWARD = "\nloss = net(x).sum()\nloss.backward()\n"


def doubt(text: str) -> str:
    """Why the gradients of the marked owner may be needed; empty where they are not."""
    semantics, [owner] = marked(text)
    assert isinstance(owner, ast.expr)
    found = semantics.of(UnneededGradients)
    return (found.of(owner) & found.leaves_something(owner)).doubt


@pytest.mark.parametrize(
    "text",
    [
        FREEZE + "for p in head.parameters():\n    p.grad.clamp_(-1, 1)",
        FREEZE + "for p in net.parameters():\n    if p.grad is not None:\n        p.grad.clamp_(-1, 1)",
        FREEZE + "for p in net.parameters():\n    if p.grad is None:\n        continue\n    p.grad.clamp_(-1, 1)",
        FREEZE + "norms = [p.grad.norm() for p in net.parameters() if p.requires_grad]",
        FREEZE + "torch.autograd.grad(loss, x)",
        FREEZE + "torch.autograd.grad(loss, list(head.parameters()))",
        FREEZE + "optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=1)",
        FREEZE + "print(body[0].weight.grad)",
        FREEZE + "x = torch.ones(2, requires_grad=True)\nprint(x.grad.abs())",
        LOOP.replace("    «", "    if c:\n        «") + PICKED + BACKWARD,
        LOOP + "body[0][1] = nn.Linear(2, 2)\ntorch.optim.SGD(filter(lambda p: p.requires_grad, body.parameters()))",
        LOOP + "for p in body[0].parameters():\n    p.requires_grad = True\n" + PICKED,
        LOOP + "net = nn.Sequential(body, nn.ReLU(), head)" + BACKWARD,
        LOOP + "body.fc = nn.Linear(2, 2)" + BACKWARD + PICKED,
    ],
)
def test_unneeded(text: str) -> None:
    assert doubt(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FREEZE + "for p in net.parameters():\n    p.grad.clamp_(-1, 1)", "`p.grad` is None"),
        (FREEZE + "total = sum(torch.norm(p.grad) for p in net.parameters())", "`p.grad` is None"),
        (FREEZE + "step = 0.1 * body[0].weight.grad", "`body[0].weight.grad` is None"),
        (FREEZE + "for group in optimizer.param_groups:\n    for p in group['params']:\n        p.grad.mul_(2)", "is None"),
        (FREEZE + "body[0].weight.register_hook(print)", "`register_hook` refuses"),
        (FREEZE + "torch.autograd.grad(loss, list(net.parameters()))", "`torch.autograd.grad(…)` refuses"),
        (FREEZE + "weights = [*net.parameters()]\ntorch.autograd.grad(loss, weights)", "weights)` refuses"),
        (FREEZE + "torch.optim.SGD([p for p in body.parameters() if p.requires_grad])", "of `body` nothing is left"),
        (FREEZE + "torch.optim.SGD(filter(lambda p: p.requires_grad, body.parameters()))", "of `body` nothing is left"),
        (
            "from torch import nn\nnet = nn.Linear(2, 2)\nfor p in net.parameters():\n    «p».x = False" + BACKWARD,
            "left that requires",
        ),
        (
            HEADER + "net = nn.Sequential(body, head)\nfor p in net.parameters():\n    «p».x = False" + BACKWARD,
            "left that requires",
        ),
    ],
)
def test_needed(text: str, expected: str) -> None:
    assert expected in doubt(text)
