"""TPL404: which device what is timed may be on."""

from __future__ import annotations

import pytest

from torchlint.engine.linter import lint
from torchlint.rules.selection import select_rules
from torchlint.text.source import Source

TIMED = """\
import time
import torch

def train(model, device, batches):
    model = torch.nn.Linear(2, 2).to(device)
    start = time.time()
    for batch in batches:
        y = model(batch.to(device, non_blocking=True))
        y.sum().backward()
    return time.time() - start

train(model, {device}, batches)
"""


@pytest.mark.parametrize(
    ("device", "found"),
    [
        ('torch.device("cpu")', []),
        ('torch.device("cuda")', ["TPL404"]),
        ('torch.device("cuda" if gpu else "cpu")', ["TPL404"]),
        ("the_device()", ["TPL404"]),
        ("torch.device(options.device)", ["TPL404"]),
    ],
)
def test_work_on_the_cpu_needs_no_waiting(device: str, found: list[str]) -> None:
    source = Source(TIMED.format(device=device), "train.py")
    assert [each.code for each in lint(source, select_rules(["TPL404"]))] == found
