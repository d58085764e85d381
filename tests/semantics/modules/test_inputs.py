"""What modules are given."""

from __future__ import annotations

import pytest
from marked import marked

from torchlint.semantics.modules.inputs import Inputs

HEADER = "import torch\nfrom torch import nn\nfc = nn.Linear(1, 1)\ncriterion = nn.MSELoss()\n"


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("fc(«x.squeeze()»)", True),
        ("y = «x.squeeze()»\nfc(y)", True),
        ("y = z = «x.squeeze()»\nfc(z)", True),
        ("criterion(«x.squeeze()», t)", False),
        ("torch.relu(«x.squeeze()»)", False),
        ("fc(t, «x.squeeze()»)", False),
        ("y = «x.squeeze()»\nfc(y + 1)", False),
        ("def f(net):\n    net(«x.squeeze()»)", False),
    ],
)
def test_inputs(snippet: str, expected: bool) -> None:
    semantics, (node,) = marked(HEADER + snippet)
    assert semantics.of(Inputs).include(node) is expected
