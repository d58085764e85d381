"""Which values a function works with for itself, so that no gradient depends on them."""

from __future__ import annotations

import textwrap

import pytest

from marked import marked
from torchlint.semantics.gradients.local_results import LocalResults

_START = "import torch\nimport numpy as np\nfrom torch import nn\n"
_BATCHES = "    for image, target in loader:\n"
_ARRAY = "        shown = «image».data.squeeze(0).numpy()\n        shown *= 255\n"
_LOSS = "        loss = crit(net(image), target)\n"


def is_result(snippet: str) -> bool:
    semantics, (node,) = marked(_START + textwrap.dedent(snippet))
    return semantics.of(LocalResults).is_result(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "def test(net, loader):\n" + _BATCHES + _ARRAY,
        "def test(net, loader, crit):\n    total = 0\n"
        + _BATCHES
        + _LOSS
        + _ARRAY
        + "        total += loss.item()\n    return total",
        "def test(net, loader):\n    kept = []\n"
        + _BATCHES
        + _ARRAY
        + "        kept.append(((shown.clip(0, 255) - 1) ** 2).mean())\n    return kept",
        "def test(net, loader):\n"
        + _BATCHES
        + "        with torch.no_grad():\n            out = net(image)\n        «out.cpu()».data.numpy()",
        "def test(net, loader):\n"
        + _BATCHES
        + "        image = torch.autograd.Variable(image.cuda())\n        image = image.cpu()\n        «image».data.numpy()",
    ],
)
def test_results(snippet: str) -> None:
    assert is_result(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        # the loss has saved what is changed
        "def train(net, loader, crit):\n" + _BATCHES + _LOSS + _ARRAY + "        loss.backward()",
        "def step(net, loader, crit):\n" + _BATCHES + _LOSS + _ARRAY + "        return loss",
        "def step(self, net, loader, crit):\n" + _BATCHES + _LOSS + _ARRAY + "        self.loss = loss",
        "def step(net, loader, crit, losses):\n" + _BATCHES + _LOSS + _ARRAY + "        losses.append(loss)",
        "def step(net, loader, crit, trainer):\n" + _BATCHES + _LOSS + _ARRAY + "        trainer.optimize(loss)",
        "def steps(net, loader, crit):\n" + _BATCHES + _LOSS + _ARRAY + "        yield loss",
        "class Net(nn.Module):\n    def forward(self, loader):\n        for x in loader:\n            «x».data.numpy()",
        # what lives on
        "def scale(net):\n    for p in net.parameters():\n        «p».data.numpy()",
        "def scale(net):\n    with torch.no_grad():\n        w = next(net.parameters())\n        «w».data.numpy()",
        "def scale(net):\n    with torch.no_grad():\n        w = get_weight(net)\n        «w».data.numpy()",
        "def scale(net):\n    w = net.fc.weight\n    «w».data.numpy()",
        "def shown(out):\n    out = out.cpu()\n    return «out».data.numpy()",
        "image = torch.rand(3)\n«image».data.numpy()",
    ],
)
def test_what_may_have_been_saved_or_lives_on(snippet: str) -> None:
    assert not is_result(snippet)
