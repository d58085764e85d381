"""Screens only save time: with or without them, the findings are the same."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlint.linter import lint, passes_screen
from torchlint.rules import Rule, Screen, all_rules
from torchlint.source import Source, SourceError

EVERYTHING = Screen(any_of=(b"",))


def unscreened(rules: tuple[type[Rule], ...]) -> list[type[Rule]]:
    """The rules, made to look at every file."""
    return [type(rule.__name__, (rule,), {"screen": EVERYTHING, "__doc__": rule.__doc__}) for rule in rules]


def torch_sources() -> Iterator[Path]:
    """Every seventh file of torch's own Python code: real code, much of it old, that trains, tests and optimizes."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return
    yield from sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))[::7]


def findings(path: Path, rules: list[type[Rule]] | tuple[type[Rule], ...]) -> list[tuple[str, int, int]]:
    source = Source.decode(path.read_bytes(), str(path))
    return [(found.code, found.location.row, found.location.column) for found in lint(source, rules)]


def test_real_code_has_the_same_findings_without_screens() -> None:
    paths = list(torch_sources())
    if not paths:
        pytest.skip("torch, whose code this reads, is not installed")
    screened = all_rules()
    everything = unscreened(screened)
    by_default = [rule for rule in screened if rule.default]
    held_back, found = 0, 0
    for path in paths:
        try:
            expected = findings(path, everything)
        except SourceError:
            continue
        assert findings(path, screened) == expected, path
        held_back += not passes_screen(path.read_bytes(), by_default)
        found += len(expected)
    # five in six of these files speak of torch, and have tensors that some of the rules could be about
    assert held_back > len(paths) / 3, "the screens let most files through"
    assert found > 0, "nothing was found at all: the comparison says nothing"


@pytest.mark.parametrize(
    "text",
    [
        "import sklearn.datasets\n\niris = sklearn.datasets.load_iris()\nprint(iris.data.cpu())\n",
        "import chainer\nfrom nets.pytorch_backend import length\n\nprint(x.data.cpu())\n",
        "from tensorflow import Variable\n\nVariable(x.data.cpu())\n",
    ],
)
def test_files_about_other_libraries_are_silent(text: str) -> None:
    assert lint(Source(text), all_rules()) == []
    assert not passes_screen(text.encode(), all_rules())


@pytest.mark.parametrize(
    "text",
    [
        "print(x.data.cpu())\n",
        "import math\n\nx.data.uniform_(-math.pi, math.pi)\n",
        "import pandas\nimport torch\n\nprint(x.data.cpu())\n",
        "import scipy\nfrom .torch_imports import *\n\nprint(x.data.cpu())\n",
        "# the same in tensorflow:\nimport torch\n\nprint(x.data.cpu())\n",
    ],
)
def test_other_libraries_beside_torch_do_not_silence(text: str) -> None:
    assert len(lint(Source(text), all_rules())) == 1
