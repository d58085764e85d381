"""Of which lists the items have no graph, or are handed on for theirs."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.unrecorded.kept_items import KeptItems

_START = "import numpy as np\n"
_OUTER = "def f():\n    outer = []\n    kept = []\n    «kept».append(x)\n    outer.append(%s)\n    return %s"


def have_none(snippet: str) -> bool:
    semantics, (node,) = marked(_START + snippet)
    assert isinstance(node, ast.Name)
    return semantics.of(KeptItems).have_none(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "kept = []\n«kept».append(x)\ny = np.stack(kept)",
        "kept = []\n«kept».append(x)\nfor each in kept:\n    rows.append(np.asarray(each))",
        "kept = []\n«kept».append(x)\nfor i, each in enumerate(kept):\n    rows.append(np.array(each))",
        _OUTER % ("kept[-1]", "outer[-1]"),
        _OUTER % ("kept[0]", "{'loss': outer[-1]}, 3"),
    ],
)
def test_no_graph_is_kept_for_nothing(snippet: str) -> None:
    assert have_none(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "kept = []\n«kept».append(x)\ny = np.mean(kept)",
        "kept = []\n«kept».append(x)\nfor i, each in enumerate(kept):\n    rows.append(np.array(i))",
        "kept = []\n«kept».append(x)\nfor each in kept:\n    rows.append(np.array(each.item()))",
        "kept = []\n«kept».append(x)\nfor each in kept:\n    each = g(each)\n    rows.append(np.array(each))",
        _OUTER % ("kept[-1]", "outer"),  # a history
        _OUTER % ("kept[-1].item()", "outer[-1]"),
        "def f():\n    kept = []\n    «kept».append(x)\n    return kept[-1]",
    ],
)
def test_a_graph_may_be_kept(snippet: str) -> None:
    assert not have_none(snippet)
