"""What took time by the square, or without end, is linted by the command within a limit of processor time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command import torchlint_

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such clock")

START = (
    "import torch\nimport torch.nn.functional as F\n"
    "x = torch.ones(1, requires_grad=True)\nmodel = torch.nn.Linear(1, 1)\nx.requres_grad = False\n"
)
STEP = "        loss = F.mse_loss(model(x), y)\n        loss.backward()\n"

PROGRAMS = {
    "a written-out determinant": "def f(m, out):\n    out[0][0] = " + " + ".join(["m[0][1]"] * 300) + "\n    x.cuda()\n",
    "kept snapshots": "def f(loader, best):\n    for y in loader:\n"
    + "".join(f"        best['{i}'] = model.state_dict()\n" for i in range(800))
    + STEP,
    "while loops": "def f(y):\n    total = 0\n"
    + f"    while y:\n        if x: break\n        if y: continue\n{STEP}        total += loss\n" * 400,
    "methods that add to an attribute": "class C:\n    def __init__(self):\n        self.total = 0\n"
    + "".join(f"    def f{i}(self, data):\n      for y in data:\n{STEP}        self.total += loss\n" for i in range(1600)),
    "a long noqa list": "x.data.add_(1)  # noqa: " + ", ".join(f"TPL{i % 1000:03}" for i in range(50_000)) + "\n",
    "many noqa comments": "y = x.data  # noqa: TPL205\n" * 3000,
    "chains of classes": "class C0(torch.nn.Module):\n    pass\n"
    + "".join(f"class C{i + 1}(C{i}):\n    def forward(self, x):\n        return self.y.data\n" for i in range(800)),
    "tries": "try:\n    y = x.data\nexcept ValueError:\n    x.data.add_(1)\nfinally:\n    y = 1\n" * 600,
    "one name of 80,000 bytes": f"{'requires_gra' * 6667} = x.data\n",
    "accesses on one line": "y = [" + "x.data, " * 6000 + "]\n",
}
LIMIT = "25"
"""Seconds; each takes less than five, and took more than these, or half of them, before it was mended."""


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_much_of_one_thing_is_linted_in_time(name: str) -> None:
    Path("a.py").write_text(START + PROGRAMS[name])
    finished = torchlint_("--select", "ALL", "--statistics", "--timeout-per-file", LIMIT, "a.py")
    assert (finished.stderr, finished.returncode) == ("", 1)


@pytest.mark.parametrize("select", ["TPL900", "ALL"])
def test_comments_are_held_against_rules_that_are_not_selected_once(select: str) -> None:
    Path("a.py").write_text(START + PROGRAMS["many noqa comments"])
    finished = torchlint_("--select", select, "--fix", "--timeout-per-file", LIMIT, "a.py")
    assert "noqa" not in Path("a.py").read_text()
    assert finished.stderr == ""


def test_a_comment_for_the_whole_file_is_used_by_what_is_found_in_any_line() -> None:
    Path("a.py").write_text(f"# torchlint: noqa: TPL002, TPL205\n{START}y = x.data\nz = x.data  # noqa: TPL002\n")
    finished = torchlint_("--select", "TPL900", "--output-format", "concise", "a.py")
    assert finished.stdout.splitlines()[0] == "a.py:1:28: TPL900 [*] `TPL205` silences nothing here: remove it from the comment"
    assert len(finished.stdout.splitlines()) == 3
