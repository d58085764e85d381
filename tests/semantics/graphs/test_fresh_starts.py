"""What sums and containers hold before anything is added to them: something that nobody else has, or not for certain."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.autograd.accumulators import root_of
from torchlint.semantics.graphs.fresh_starts import FreshStarts


def doubt(text: str) -> str:
    """The doubt about how the marked sum or container starts; empty where it is new for certain."""
    semantics, [node] = marked(f"import collections\nimport torch\n\n\n{text}")
    root = root_of(node)
    assert isinstance(root, ast.Name)
    return semantics.of(FreshStarts).fact(node, root).doubt


@pytest.mark.parametrize(
    "text",
    [
        "total = 0\n«total» += x",
        "total, seen = -1.0, []\n«total» += x",
        "total = other = 0.0\n«total» += x",
        "total = torch.zeros(1)\n«total» += x",
        "total = 0\nfor x in data:\n    «total» = total + x",
        "kept = []\n«kept».append(x)",
        "totals = [0.0] * 3\n«totals[0]» += x",
        "stats = {'a': 0, 'b': 0.0}\nfor x in data:\n    «stats['a']» += x\n    stats['b'] = stats['a'] / 2",
        "stats = collections.defaultdict(float)\n«stats['a']» += x",
    ],
)
def test_new(text: str) -> None:
    assert doubt(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(total):\n    «total» += x", "`total` is an argument; its owner may need the graph"),
        ("total = start\n«total» += x", "`total` starts as `start`, which others may have"),
        ("total = torch.as_tensor(start)\n«total» += x", "`total` starts as `torch.as_tensor(start)`, which others may have"),
        ("kept = self.kept\n«kept».append(x)", "`kept` starts as `self.kept`, which others may have"),
        ("log = kept = []\n«kept».append(x)", "`kept` starts as something that has another name, too"),
        ("watch(kept := [])\n«kept».append(x)", "`kept` starts as something that has another name, too"),
        ("kept, log = [[]] * 2\n«kept».append(x)", "nothing shows what `kept` is at first"),
        ("for total in totals:\n    «total» += x", "nothing shows what `total` is at first"),
        ("«total» += x", "nothing shows what `total` is at first"),
        ("from state import total\n«total» += x", "nothing shows what `total` is at first"),
        ("stats = {'a': loss}\n«stats['a']» += x", "`stats` starts as `{'a': loss}`, which others may have"),
        ("stats = {}\nstats['a'] = loss\n«stats['a']» += x", "`stats` may be given items that others have"),
        ("stats = {}\nstats.update(others)\n«stats['a']» += x", "`stats` may be given items that others have"),
        ("stats = {}\nother = stats\n«stats['a']» += x", "`stats` may be given items that others have"),
    ],
)
def test_not_new_for_certain(text: str, reason: str) -> None:
    assert doubt(text) == reason
