"""Freezing modules: what counts as one, and what TPL006 writes for a torch whose modules have no `requires_grad_`."""

from __future__ import annotations

import ast

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import apply
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.semantics import Semantics
from torchlint.semantics.modules.evidence import ModuleEvidence
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def rule(code: str) -> Entry:
    return next(found for found in all_rules() if found.code == code)


def is_module(text: str) -> bool:
    """Whether the expression that stands alone on the last line is a module."""
    source = Source(text)
    last = source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return ModuleEvidence(Semantics(source.tree)).is_module(last.value)


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


def fixed_for(text: str, target: TorchVersion) -> str:
    source = Source(text)
    return apply(source, [found for found in lint(source, [rule("TPL006")], options=Options(target=target)) if found.fix])


def test_old_torch_gets_a_loop_over_the_parameters() -> None:
    text = "import torch.nn as nn\n\n\ndef f(m: nn.Module):\n    m.requires_grad = False  # frozen\n"
    assert fixed_for(text, TorchVersion(1, 2)) == (
        "import torch.nn as nn\n\n\ndef f(m: nn.Module):\n"
        "    for parameter in m.parameters():\n        parameter.requires_grad = False  # frozen\n"
    )
    assert fixed_for(text, TorchVersion(1, 3)) == text.replace("requires_grad = False", "requires_grad_(False)")


@pytest.mark.parametrize(
    "statement",
    ["m.requires_grad = m[0].requires_grad = False", 'setattr(m, "requires_grad", False)', "x = 1; m.requires_grad = False"],
)
def test_old_torch_gets_no_fix_where_a_loop_does_not_fit(statement: str) -> None:
    text = f"import torch.nn as nn\n\nm = nn.Sequential(nn.Linear(1, 1))\n{statement}\n"
    found = lint(Source(text), [rule("TPL006")], options=Options(target=TorchVersion(1, 0)))
    assert found and all(diagnostic.fix is None for diagnostic in found)
    newest = lint(Source(text), [rule("TPL006")])
    assert all(diagnostic.fix and diagnostic.fix.applicability is Applicability.SAFE for diagnostic in newest)
