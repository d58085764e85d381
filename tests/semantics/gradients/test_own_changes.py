"""Which changes in place nobody can tell from others, and why code may rely on the rest."""

from __future__ import annotations

import ast

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.gradients.leaf_changes import LeafChanges
from torchlint.semantics.gradients.saved.changes import SavedChanges
from torchlint.semantics.gradients.saved.own_changes import OwnChanges


def semantics_of(body: str, before: str = "") -> Semantics:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return Semantics(ast.parse(f"{before}import torch\nfrom torch import nn\n\n\ndef f(x: torch.Tensor, seen):\n{lines}"))


def saved(body: str, before: str = "") -> Fact:
    """Whether the one change of what is saved is nobody else's business."""
    semantics = semantics_of(f"w = torch.ones(3, requires_grad=True)\n{body}", before)
    [change] = semantics.of(SavedChanges).at.values()
    return semantics.of(OwnChanges).saved(change)


def leaf(body: str) -> Fact:
    """Whether the one change of a leaf is certainly that."""
    semantics = semantics_of(body)
    [change] = semantics.of(LeafChanges).at.values()
    return semantics.of(OwnChanges).leaf(change)


@pytest.mark.parametrize(
    "body",
    [
        "y = (w * x).sigmoid()\ny *= 2\ny.sum().backward()",
        "y = torch.exp(w)\ny.mul_(0.5)\ny.sum().backward()",
        "y = torch.softmax(w, 0)\nprint(y.shape)\ny[x] = 0\ny.sum().backward()",
    ],
)
def test_own(body: str) -> None:
    assert saved(body).is_certain


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("y = w.exp()\ny *= x\ny.sum().backward()", "`x` may have another type or shape"),
        ("y = w.exp()\nseen.append(y)\ny *= 2\ny.sum().backward()", "`y`, which others may hold"),
        ("y = w.exp()\nrow = y[0]\ny *= 2\ny.sum().backward()\nreturn row", "`y`, which others may hold"),
        ("y = z = w.exp()\ny *= 2\ny.sum().backward()", "`y`, which others may hold"),
        ("e = (x * w).sum()\nx *= 2\ne.backward()", "the caller may rely on the change of its argument"),
        ("y = w.exp()\ny *= 2\ntry:\n    y.sum().backward()\nexcept RuntimeError:\n    pass", "the code awaits errors"),
    ],
)
def test_others_may_hold_it(body: str, doubt: str) -> None:
    assert doubt in saved(body).doubt


@pytest.mark.parametrize(
    "alias",
    [
        *(
            "y.detach()",
            "y.data",
            "y.detach().numpy()",
            "y.numpy(force=True)",
            "[y.detach()]",
            "y.detach().cpu()",
            "y.detach()[0]",
        ),
        *("y.detach().view(3, 1)", "y.detach().T.flatten()", "y.detach().requires_grad_()", "np.asarray(y.detach())"),
        *("torch.from_dlpack(y.detach())", "y.detach() if seen else None", "torch.autograd.Variable(y)", "y.data.data"),
    ],
)
def test_what_goes_on_with_its_memory_may_be_relied_on(alias: str) -> None:
    body = f"y = w.exp()\nkept = {alias}\ny *= 2\ny.sum().backward()\nreturn kept"
    assert "which others may hold" in saved(body, "import numpy as np\n").doubt


@pytest.mark.parametrize(
    "copy",
    [
        "y.detach().clone()",
        "y.data.mean()",
        "y.detach().numpy().copy()",
        "y.detach().cpu().tolist()",
        "y.data.shape",
        "y.data[0] + 1",
    ],
)
def test_what_is_copied_of_its_memory_is_nobody_elses(copy: str) -> None:
    assert saved(f"y = w.exp()\nkept = {copy}\ny *= 2\ny.sum().backward()\nreturn kept").is_certain


@pytest.mark.parametrize("word", ["_version", "data_ptr()"])
def test_a_tensor_out_of_place_is_another_one(word: str) -> None:
    assert word.rstrip("()") in saved(f"y = w.exp()\ny *= 2\ny.sum().backward()\nprint(y.{word})").doubt


def test_leaves() -> None:
    assert leaf("w = torch.zeros(3, requires_grad=True)\nw[0] = 1.0").is_certain
    assert leaf("w = torch.zeros(3, requires_grad=True)\nw -= 0.1 * w.grad").is_certain
    frozen = "w = torch.zeros(3, requires_grad=True)\nb = nn.Parameter(x)\nb.requires_grad = seen\nw -= 0.1 * w.grad"
    assert leaf(frozen).doubt == "the code takes `requires_grad` away from some tensors"
    other = "layer = nn.Linear(2, 2)\nnn.utils.weight_norm(layer)\nlayer.weight.mul_(0.5)\nlayer(x).sum().backward()"
    assert leaf(other).doubt == "`layer.weight` may be no leaf that requires grad where it is changed"
    assert leaf(other.replace("nn.utils.weight_norm(layer)\n", "")).is_certain


def test_layers_of_sequences() -> None:
    def unseen(behind: str) -> bool:
        made = "net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Dropout(inplace=True))"
        semantics = semantics_of(f"{made}\n{behind}")
        [layer] = semantics.of(SavedChanges).in_sequences
        return semantics.of(OwnChanges).in_sequence(layer).is_certain

    assert unseen("return net(x)")
    assert not unseen("net[1].register_forward_hook(seen)\nreturn net(x)")
    assert not unseen("h = net[1](x)\nreturn net[2](h)")
