"""What counts as a module by what is done with it."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.modules.evidence import ModuleEvidence


def is_module(text: str) -> bool:
    """Whether the expression that stands alone on the last line is a module."""
    tree = ast.parse(text)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    return Semantics(tree).of(ModuleEvidence).is_module(last.value)


@pytest.mark.parametrize(
    "text",
    [
        "from lib import build\nnet = build()\nnet.eval()\nnet",
        "from lib import build\nnet = build().eval()\nnet",
        "from lib import build\nnet = build()\nnet.requires_grad = False\nnet(x)\nnet",
        "from lib import build\nnet = build()\nnet.train()\nnet.encoder",
        "from lib import build\nnet = build()\nnet.head.parameters()\nnet.head",
        "for name, part in net._modules.items():\n    pass\npart",
        "from torchvision.models import vgg16\nvgg16().features[3]",
        "from torchvision.models import vgg16\nlayers = vgg16().features\nfor i, layer in enumerate(layers):\n    pass\nlayer",
    ],
)
def test_modules(text: str) -> None:
    assert is_module(text)


@pytest.mark.parametrize(
    "text",
    [
        "from lib import build\nnet = build()\nnet",
        "from lib import build\nnet = build()\nnet.requires_grad = False\nnet",
        "from lib import build\nnet = build()\nnet.encoder",
        "import torch\nencoder = torch.ones(3)\nencoder(x)\nencoder",
        "from lib import net, other\nother.head(x)\nnet.head",
        "for node in tree:\n    node = node.child\nnode",
    ],
)
def test_other_things(text: str) -> None:
    assert not is_module(text)
