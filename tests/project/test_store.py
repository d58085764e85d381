"""What files say, kept on disk: it is not made twice, comes back as it was, and whatever stands in its place is harmless."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from torchlint.engine import runner
from torchlint.engine.cache import Cache
from torchlint.engine.examination import Action, Outcome, Task
from torchlint.project import store as store_module
from torchlint.project.files import Files
from torchlint.project.store import Store
from torchlint.project.trees import Trees
from torchlint.project.values import decoder, encoded
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules
from torchlint.semantics.summaries.calls import CallSummary, calls_of
from torchlint.semantics.summaries.making import summary_of
from torchlint.semantics.summaries.summary import Made, Summary

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {}
"""
USER = """\
import torch
from models.net{0} import Net


def predict(x):
    model = Net()
    model.load_state_dict(torch.load("model.pt", weights_only=True))
    with torch.no_grad():
        return model(x)
"""
MODELS = 100
TASK = Task(select_rules(["TPL504"], among=all_rules()), project_root="")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three hundred files: models, and two users of each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "models").mkdir()
    for number in range(MODELS):
        (tmp_path / "models" / f"net{number}.py").write_text(MODEL.format("nn.Dropout(0.5)"))
        for user in ("a", "b"):
            (tmp_path / f"use{number}{user}.py").write_text(USER.format(number))
    for path in tmp_path.rglob("*.py"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return tmp_path


@dataclass
class Counts:
    """The files that were linted, and the texts that were summed up, since somebody asked."""

    linted: list[str]
    summed_up: int = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    seen = Counts([])
    examine, said = runner.examine, Trees.summary

    def examined(data: bytes, path: str, *rest: Any) -> Outcome:
        seen.linted.append(os.path.basename(path))
        return examine(data, path, *rest)

    def counted(trees: Trees, data: bytes, *, is_stub: bool) -> tuple[Summary, str]:
        seen.summed_up += 1
        return said(trees, data, is_stub=is_stub)

    monkeypatch.setattr(runner, "examine", examined)
    monkeypatch.setattr(Trees, "summary", counted)
    return seen


def found(*names: str, key: str = "a") -> list[str]:
    """The files below the working directory in which something is found, with a cache of which the results have a key."""
    paths = sorted(names or map(str, Path().rglob("*.py")))
    return [each.filename for each in runner.run(paths, TASK, cache=Cache(".torchlint_cache", key)) if each.diagnostics]


USERS = sorted(f"use{number}{user}.py" for number in range(MODELS) for user in ("a", "b"))


def test_of_hundreds_of_files_only_what_changed_is_looked_at_again(project: Path, counts: Counts) -> None:
    assert found() == USERS
    assert counts.summed_up == 1  # the models all hold the same text
    model = project / "models" / "net7.py"
    model.write_text(MODEL.format("nn.Linear(2, 2)"))
    counts.linted.clear()
    assert found() == [each for each in USERS if each not in ("use7a.py", "use7b.py")]
    assert counts.linted == ["use7a.py", "use7b.py"]
    assert counts.summed_up == 2
    model.write_text(MODEL.format("nn.Dropout(0.5)"))
    counts.linted.clear()
    assert found() == USERS
    assert counts.linted == ["use7a.py", "use7b.py"]
    assert counts.summed_up == 2, "it said that before"


def test_with_other_settings_files_say_the_same(project: Path, counts: Counts) -> None:
    assert found("use1a.py") == ["use1a.py"]
    assert found("use1a.py", key="b") == ["use1a.py"]
    assert (counts.linted, counts.summed_up) == (["use1a.py", "use1a.py"], 1)


def test_nothing_is_fixed_by_what_stands_in_a_cache(project: Path, counts: Counts) -> None:
    assert found("use1a.py") == ["use1a.py"]
    task = Task(TASK.rules, Action.FIX, project_root="")
    runner.run(["use1a.py"], task, cache=Cache(".torchlint_cache", "a"))
    assert counts.summed_up == 2


def kept(project: Path) -> Iterator[Path]:
    """The files of the store."""
    return (path for path in (project / ".torchlint_cache").glob("*/[0-9][0-9]/*.json") if path.is_file())


@pytest.mark.parametrize(
    "spoilt",
    [b"", b"\x00", b"{}", b"0" * 32 + b"\n[]", b"[" * 100_000, b"x" * 6_000_000],
    ids=["empty", "null", "json", "checksum", "deep", "large"],
)
def test_what_is_damaged_is_not_there(project: Path, counts: Counts, spoilt: bytes) -> None:
    assert found("use1a.py") == ["use1a.py"]
    for path in kept(project):
        path.write_bytes(spoilt)
    assert found("use1a.py", key="b") == ["use1a.py"]
    assert counts.summed_up == 2
    assert found("use1a.py", key="c") == ["use1a.py"]
    assert counts.summed_up == 2, "it is mended"


HOSTILE: tuple[Any, ...] = (
    *(None, True, 1, -1.5, "x", "\ud800", [], {}, [[]], [None], [[], ""], [[], 3], [[[]], "a"], {"a": 1}, [[[["a", []]]], ""]),
    [[[["Net", [None, [["x"] * 3, "y"]]]]], "a"],
    [[[["Net", [None, [["torch.nn.Module"], [], [], [], 1]]]]], "a"],
    [[[["Net", [None, None, "Net"]]], ["."], ["a"], "more"], "a"],
    [[[["Net", [None, None, None]]]], "a"],
    [[[["Net", [None, None, "@" + "." * 100_000]]]], "a"],
    [[[["Net", [None, None, "@\x1b]0;x\x07\n../../x"]]], [".", "..", "\x00"], ["Net"]], "\x00"],
    [[[["Net", [None, None, "Net.Net"]], ["Net", [None, None, "Net"]]], ["models.net1"]], "a"],
)


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:40])
def test_whoever_writes_the_cache_can_do_no_more_than_say_something_wrong(project: Path, value: Any) -> None:
    assert found("use1a.py") == ["use1a.py"]
    payload = json.dumps(value).encode()
    for path in kept(project):
        path.write_bytes(blake2b(payload, digest_size=16).hexdigest().encode() + b"\n" + payload)
    outcomes = runner.run(["use1a.py"], TASK, cache=Cache(".torchlint_cache", "b"))
    assert all(not each.errors for each in outcomes)


def test_a_folder_that_is_no_cache_gets_nothing(project: Path) -> None:
    (project / ".torchlint_cache").mkdir()
    (project / ".torchlint_cache" / "mine.txt").write_text("")
    assert found("use1a.py") == ["use1a.py"]
    assert [path.name for path in (project / ".torchlint_cache").iterdir()] == ["mine.txt"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_links_in_the_cache_are_not_followed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert found("use1a.py") == ["use1a.py"]
    outside = tmp_path_factory.mktemp("outside")
    for path in list(kept(project)):
        path.unlink()
        path.parent.rmdir()
        path.parent.symlink_to(outside)
    assert found("use1a.py", key="b") == ["use1a.py"]
    assert list(outside.iterdir()) == []


def test_the_oldest_go_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def store() -> Store:
        return Store(str(tmp_path / "cache"), lambda: "key")

    monkeypatch.setattr(store_module, "_MOST", 10)
    for number in range(64 * 40):
        if number % 640 == 0:
            current = store()
        current.note("note", str(number), number)
    sizes = [len(list(folder.iterdir())) for folder in (tmp_path / "cache" / "key").iterdir()]
    assert len(sizes) == 64
    assert max(sizes) < 40
    assert [store().noted("note", int, str(number)) for number in (2_558, 2_559)] == [2_558, 2_559]


# --- values ----------------------------------------------------------------------------------------------------------


def test_what_torchlint_says_of_its_own_files_comes_back_as_it_was() -> None:
    paths = sorted((Path(runner.__file__).parents[1] / "engine").glob("*.py"))
    assert len(paths) > 10
    for path in paths:
        tree = ast.parse(path.read_bytes())
        for value, kind in ((summary_of(tree), Summary), (calls_of(tree), tuple[CallSummary, ...])):
            assert decoder(kind)(json.loads(json.dumps(encoded(value)))) == value


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Several:
    """A field of each kind that there may be."""

    text: str
    colour: Colour = Colour.RED
    words: frozenset[str] = frozenset()
    inner: Several | None = None
    pair: tuple[str, int] = ("", 0)
    many: tuple[Made, ...] = ()
    either: str | int = 0


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Several("a"), '["a"]'),
        (Several("a", inner=Several("b")), '["a", "red", [], ["b"]]'),
        (Several("a", words=frozenset("yx"), pair=("x", 1)), '["a", "red", ["x", "y"], null, ["x", 1]]'),
        (Several("", many=(Made(("f",), (Made(),)),), either="z"), '["", "red", [], null, ["", 0], [[["f"], [[]]]], "z"]'),
    ],
)
def test_values_are_told_by_their_types(value: Several, written: str) -> None:
    assert json.dumps(encoded(value)) == written
    assert decoder(Several)(json.loads(written)) == value


@pytest.mark.parametrize(
    "written", ["[]", "[1]", '["a", "blue"]', '["a", "red", [], null, ["", true]]', '"a"', '{"text": "a"}']
)
def test_what_is_no_value_is_refused(written: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        decoder(Several)(json.loads(written))


def test_the_words_of_imports_are_read_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.project import importers

    read: list[str] = []
    words = importers.imported_words

    def noted(path: str) -> frozenset[str]:
        read.append(os.path.basename(path))
        return words(path)

    monkeypatch.setattr(importers, "imported_words", noted)
    monkeypatch.setattr(importers, "TICK", 0)  # the files are new
    assert found("use1a.py") == ["use1a.py"]
    expected = importers.Importers(str(project)).of(["net1"])
    assert [os.path.basename(path) for path in expected] == ["use1a.py", "use1b.py"]
    store = Cache(".torchlint_cache", "a").summaries
    importers.Importers(str(project), store).of(["net1"])
    read.clear()
    os.utime(project / "use1b.py", (1_700_000_001, 1_700_000_001))
    assert importers.Importers(str(project), store).of(["net1"]) == expected
    assert read == ["use1b.py"]
    for path in kept(project):
        path.write_bytes(b"")
    assert importers.Importers(str(project), store).of(["net1"]) == expected


def test_files_without_a_store_keep_nothing(project: Path) -> None:
    Files().summed_up(str(project / "models" / "net1.py"))
    assert not (project / ".torchlint_cache").exists()
