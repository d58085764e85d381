"""Which tensors are resized in place, so that none of them requires grad."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.refilled import RefilledTensors

_CLASS = """\
class Model:
    def start(self, options):
        self.images = self.Tensor(options.batch, 3)

    def feed(self, batch):
        {fill}

    def show(self):
        return «self.images»
"""


def are_refilled(text: str) -> bool:
    semantics, [node] = marked("import torch\n" + text)
    return semantics.of(RefilledTensors).are(node)


@pytest.mark.parametrize(
    "text",
    [
        _CLASS.format(fill="self.images.resize_(batch.size()).copy_(batch)"),
        _CLASS.format(fill="self.images.resize_as_(batch).copy_(batch)"),
        "images = make(3)\nfor batch in batches:\n    images.resize_as_(batch).copy_(batch)\n    show(«images»)",
        "def f(images, n):\n    images.resize_(n)\n    return «images»",
    ],
)
def test_they_are_resized(text: str) -> None:
    assert are_refilled(text)


@pytest.mark.parametrize(
    "text",
    [
        _CLASS.format(fill="self.images.copy_(batch)"),
        _CLASS.format(fill="self.images.data.resize_(batch.size()).copy_(batch)"),  # which weights can be
        _CLASS.format(fill="self.images.resize(3)"),
        _CLASS.format(fill="self.images.resize_(3)\n        self.images = self.net(self.images)"),
        _CLASS.format(fill="self.others.resize_(3)"),
        "images = make(3)\nimages.resize_(3)\nimages = net(images)\nshow(«images»)",
        "images = make(3)\nimages.resize_(3)\nif net:\n    images = net(images)\nshow(«images»)",
        "show(«images»)",
    ],
)
def test_they_may_be_computed(text: str) -> None:
    assert not are_refilled(text)


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("recorded", [True, False])
def test_torch_resizes_nothing_that_requires_grad(leaf: bool, recorded: bool) -> None:
    torch = pytest.importorskip("torch")
    value = torch.ones(3, requires_grad=True)
    value = value if leaf else value * 2
    with torch.set_grad_enabled(recorded), pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        value.resize_(2)
