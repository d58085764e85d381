"""What TPL006 writes to freeze modules for a torch whose modules have no `requires_grad_`."""

from __future__ import annotations

import pytest

from torchlint.engine.fixer import apply
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def rule(code: str) -> Entry:
    return next(found for found in all_rules() if found.code == code)


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
    text = f"import torch.nn as nn\n\nm = nn.Sequential(nn.Linear(1, 1))\nhead = nn.Linear(1, 1)\n{statement}\n"
    found = lint(Source(text), [rule("TPL006")], options=Options(target=TorchVersion(1, 0)))
    assert found and all(diagnostic.fix is None for diagnostic in found)
    newest = lint(Source(text), [rule("TPL006")])
    assert newest and all(diagnostic.fix is not None for diagnostic in newest)
