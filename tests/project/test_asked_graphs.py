"""A sum that a function returns keeps its graph where another file of the project asks for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint
from torchlint.diagnostic import Applicability

TRAINING = """
import torch
import torch.nn.functional as F
def epoch(model, optimizer, batches):
    total = 0
    for x in batches:
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total
"""


def is_safe(folder: Path, other: str) -> bool:
    """Whether the fix of the sum is safe beside another file of the project."""
    (folder / "main.py").write_text(f"import torch\nfrom trainer import epoch\n{other}\n")
    [found] = lint(TRAINING, filename=str(folder / "trainer.py"), project_root=str(folder))
    assert found.code == "TPL004" and found.fix is not None
    return found.fix.applicability is Applicability.SAFE


@pytest.mark.parametrize(
    "other",
    [
        "value = epoch(model, optimizer, batches)\nif value.requires_grad:\n    value = value.detach()",
        "print(epoch(model, optimizer, batches).numpy())",
        "def run():\n    value = epoch(model, optimizer, batches)\n    return copy.deepcopy(value / 3)",
        "value = epoch(model, optimizer, batches)\n(value / 3).backward()",
    ],
)
def test_another_file_asks(tmp_path: Path, other: str) -> None:
    assert not is_safe(tmp_path, other)


@pytest.mark.parametrize(
    "other",
    [
        "print(epoch(model, optimizer, batches))",
        "value = epoch(model, optimizer, batches)\nprint(value.item(), [p for p in model.parameters() if p.requires_grad])",
        "value = epoch(model, optimizer, batches)\nrows.append(value.detach().numpy())",
        "def run():\n    value = epoch(model, optimizer, batches)\ndef other(value):\n    value.backward()",
    ],
)
def test_another_file_reads_the_number(tmp_path: Path, other: str) -> None:
    assert is_safe(tmp_path, other)
