"""Texts are parsed once for all that is asked of them, for as long as their trees are kept."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.engine.examination import Task, examine
from torchlint.project import trees as trees_module
from torchlint.project.files import Files
from torchlint.project.trees import Trees
from torchlint.rules import all_rules

NET = b"import torch\n\ndef make(width):\n    return torch.nn.Linear(width, width)\n\nnet = make(3)\n"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The texts that are parsed."""
    seen: list[bytes] = []
    parse = ast.parse

    def counted(text: str | bytes, *arguments: object, **words: object) -> ast.AST:
        seen.append(text if isinstance(text, bytes) else text.encode())
        return parse(text, *arguments, **words)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(ast, "parse", counted)
    return seen


def test_one_tree_for_everything(parsed: list[bytes]) -> None:
    trees = Trees()
    summary, digest = trees.summary(NET, is_stub=False)
    assert "make" in repr(summary)
    assert digest == Trees().summary(NET, is_stub=False)[1]
    assert len(trees.calls(NET, "make")) == 1
    assert trees.calls(NET, "build") == ()
    assert parsed == [NET, NET]


def test_what_somebody_else_has_parsed_is_not_parsed_again(parsed: list[bytes]) -> None:
    trees = Trees()
    assert trees.kept(NET) is None
    tree = ast.parse(NET)
    trees.keep(NET, tree)
    assert trees.kept(NET) is trees.of(NET) is tree
    assert len(trees.calls(NET, "make")) == 1
    assert parsed == [NET]


def test_of_many_the_last_ones_are_kept(parsed: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees_module, "_MOST_KEPT", 30)
    trees = Trees()
    for text in (b"first = 1\n", b"second = 2\n", b"first = 1\n", b"third = 3\n", b"first = 1\n", b"second = 2\n"):
        trees.calls(text, "f")
    assert parsed == [b"first = 1\n", b"second = 2\n", b"third = 3\n", b"second = 2\n"]
    trees.calls(NET, "make")  # alone more than all
    assert [trees.kept(text) for text in (NET, b"second = 2\n")] == [None, None]


def test_what_cannot_be_read_says_nothing() -> None:
    trees = Trees()
    for text in (b"def f(:\n", b"\0", b"# coding: klingon\n", b"-" * 100_000 + b"1\n"):
        assert trees.summary(text, is_stub=False)[1] == ""
        assert trees.calls(text, "f") == ()


def test_a_file_that_another_one_imports_is_parsed_once_for_both(tmp_path: Path, parsed: list[bytes]) -> None:
    use = b"import torch\nfrom net import make\nx = make(3)(torch.ones(3)).data\n"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "net.py").write_bytes(NET)
    task, files = Task(all_rules(), project_root=""), Files()
    first = examine(use, str(tmp_path / "use.py"), task, files)
    assert parsed.count(NET) == 1
    second = examine(NET, str(tmp_path / "net.py"), task, files)
    assert parsed.count(NET) == 1
    assert first.answers
    assert first.errors == second.errors == ()


SPOKEN = b"""import torch
from net import make
w = torch.ones(3).data
print(f'{make(3)} and {make(5)!r:>{make(6).in_features}}', f'''
    {make(7)} {[make(8) for _ in range(2)]} {make(
        9)}''')
"""


def test_a_file_that_was_linted_is_parsed_once_and_tells_the_same(tmp_path: Path, parsed: list[bytes]) -> None:
    (tmp_path / "pyproject.toml").touch()
    path, files, alone = tmp_path / "use.py", Files(), Trees()
    path.write_bytes(SPOKEN)
    told = (alone.summary(SPOKEN, is_stub=False), alone.calls(SPOKEN, "make"))
    assert told[1]
    del parsed[:]
    examine(SPOKEN, str(path), Task(all_rules(), project_root=""), files)
    assert parsed.count(SPOKEN) == 1
    assert (files.trees.summary(SPOKEN, is_stub=False), files.trees.calls(SPOKEN, "make")) == told
    assert parsed.count(SPOKEN) == 1


def test_a_file_that_is_linted_alone_is_not_kept(tmp_path: Path) -> None:
    files = Files()
    examine(NET + b"x = make(torch.ones(3).data)\n", str(tmp_path / "net.py"), Task(all_rules()), files)
    assert files.trees.kept(NET) is None
