"""Buffers that classes of other files register: neither autograd nor an optimizer has them (TPL003, TPL104)."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

AVERAGING = """
import torch
from parts import Net

def average(device, loader):
    net = Net(4).to(device)
    mean = Net(4).to(device)
    for x in loader:
        net(x).sum().backward()
        mean.center.data = 0.9 * mean.center.data + 0.1 * net.center.data
"""
WRITING = """
import torch
from parts import Net

def write(writer, step):
    net = Net(4)
    writer.add_histogram("center", net.center.cpu().data.numpy(), step)
"""
PARTS = """
import torch
from torch import nn

class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        {made}

class Net(Base):
    def forward(self, x):
        return x - self.center
"""
BUFFER = 'self.register_buffer("center", torch.zeros(n))'


@pytest.mark.parametrize(("text", "code"), [(AVERAGING, "TPL003"), (WRITING, "TPL104")])
@pytest.mark.parametrize(
    ("made", "is_found"),
    [
        (BUFFER, False),
        ("self.center = nn.Parameter(torch.zeros(n))", True),
        ('self.register_buffer("scale", torch.zeros(n)); self.center = nn.Parameter(torch.zeros(n))', True),
        ('self.register_parameter("center", nn.Parameter(torch.zeros(n)))', True),
    ],
)
def test_buffers_of_classes_of_other_files(tmp_path: Path, text: str, code: str, made: str, is_found: bool) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "parts.py").write_text(PARTS.format(made=made))
    main = tmp_path / "main.py"
    main.write_text(text)
    found = lint(text, filename=str(main), project_root=str(tmp_path))
    assert (code in {each.code for each in found if not each.is_strict}) is is_found
