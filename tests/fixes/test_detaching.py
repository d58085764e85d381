"""What stands for ``x.data`` so that ``.detach()`` is said once."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.rules import all_rules
from torchlint.text.source import Source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data", "x.detach()"),
        ("x.detach().data", "x.detach()"),
        ("x.data.detach()", "x.detach()"),
        ("x.data.clone().detach()", "x.clone().detach()"),
        ("x.detach().cpu().data", "x.detach().cpu()"),
        ("x.detach().mul(2).data", "x.detach().mul(2).detach()"),
        ("x.data.mul(2).detach()", "x.detach().mul(2).detach()"),
        ("x.data.detach", "x.detach().detach"),
        ("x.data[0].detach()", "x[0].detach()"),
        ("x.data[0].cuda().detach()", "x[0].cuda().detach()"),
        ("y[x.data].detach()", "y[x.detach()].detach()"),
    ],
)
def test_detach_is_said_once(before: str, after: str) -> None:
    head = "import torch\ndef f(x: torch.Tensor):\n    return keep("
    rules = [rule for rule in all_rules() if rule.code == "TPL002"]
    assert fix(Source(f"{head}{before})\n"), rules, Applicability.UNSAFE).text == f"{head}{after})\n"
