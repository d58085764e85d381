"""What only the constructors of other files call sets what a model starts with."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

TOOLS = """
import torch

def follow(target: torch.nn.Module, source: torch.nn.Module):
    for p in target.parameters():
        p.data.copy_(next(source.parameters()).data)
"""
AGENT = """
from tools import follow

class Agent:
    def __init__(self, net, target):
        self.net, self.target = net, target
        {}

    def update(self, loss):
        loss.backward()
        {}
"""
CALL = "follow(self.target, self.net)"


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"agent.py": AGENT.format(CALL, "pass")}, 0),
        ({"agent.py": AGENT.format("pass", CALL)}, 1),
        ({"agent.py": AGENT.format(CALL, CALL)}, 1),
        ({"agent.py": AGENT.format(CALL, "pass"), "main.py": "from tools import follow\nfollow(a, b)\n"}, 1),
        ({}, 1),
    ],
)
def test_weights_that_callers_in_other_files_copy(tmp_path: Path, files: dict[str, str], count: int) -> None:
    for name, text in {"tools.py": TOOLS, **files}.items():
        (tmp_path / name).write_text(text)
    found = lint(TOOLS, filename=str(tmp_path / "tools.py"), project_root=str(tmp_path))
    assert len([each for each in found if each.code == "TPL001"]) == count
