"""Trees of statements that are kept from one look at a text to the next: all is found that was found, and less is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import libcst as cst
import pytest

from torchlint.engine.linter import lint
from torchlint.model import statements
from torchlint.model.parsing import parsed_module
from torchlint.model.statements import Trees
from torchlint.rules import all_rules
from torchlint.text.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRAINING = """\
import torch

net = torch.nn.Linear(4, 1)
total = 0.0
for _ in range(3):
    loss = net(torch.randn(2, 4)).mean()
    loss.backward()
    total += loss
value = loss.data
value = loss.data
"""


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that libcst is given, from here on with trees kept."""
    texts: list[str] = []

    def counted(text: str, stand_ins: Mapping[str, str]) -> cst.Module:
        texts.append(text)
        return parsed_module(text, stand_ins)

    monkeypatch.setattr(statements, "parsed_module", counted)
    monkeypatch.setattr(statements, "_kept", Trees(1000))
    return texts


def found(text: str) -> list[str]:
    return [f"{each.location.row} {each.code}" for each in lint(Source(text, "train.py"), all_rules(), fixes=False)]


def test_what_has_not_changed_is_not_parsed_again(parsed: list[str]) -> None:
    assert found(TRAINING) == ["8 TPL004", "9 TPL002", "10 TPL002"]
    assert sorted(parsed) == ["total += loss", "value = loss.data", "value = loss.data"]
    parsed.clear()
    assert found("# first\n" + TRAINING) == ["9 TPL004", "10 TPL002", "11 TPL002"]
    assert parsed == []
    assert found(TRAINING.replace("total += loss", "total += loss  # sum")) == ["8 TPL004", "9 TPL002", "10 TPL002"]
    assert parsed == []
    assert found(TRAINING + "value = loss.data\nother = loss.data\n") == [
        *("8 TPL004", "9 TPL002", "10 TPL002"),
        *("11 TPL002", "12 TPL002"),
    ]
    assert parsed == ["value = loss.data", "other = loss.data"]


def test_without_a_server_everything_is_parsed(parsed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "_kept", None)
    found(TRAINING)
    parsed.clear()
    found(TRAINING)
    assert len(parsed) == 3


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir())[::8], ids=lambda folder: folder.name)
def test_all_is_found_as_it_is_otherwise(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = ((folder / f"{name}.py").read_text(encoding="utf-8") for name in ("bad", "good"))
    texts = (bad, good, bad.replace("\n\n", "\n\n\n", 3), bad)
    expected = [lint(Source(text, "text.py"), all_rules()) for text in texts]
    monkeypatch.setattr(statements, "_kept", Trees(1000))
    assert [lint(Source(text, "text.py"), all_rules()) for text in texts] == expected
    monkeypatch.setattr(statements, "_kept", Trees(2))
    assert lint(Source(bad, "text.py"), all_rules()) == expected[0]


def test_texts_that_nobody_asks_for_are_let_go() -> None:
    trees = Trees(2)
    one, other = cst.parse_module("x\n"), cst.parse_module("x\n")
    trees.keep("x", one)
    trees.keep("x", other)
    trees.keep("y", one)
    assert trees.get("x", 0) is one
    assert trees.get("x", 1) is other
    assert trees.get("x", 2) is None
    trees.keep("z", one)
    assert trees.get("y", 0) is None
    assert trees.get("x", 1) is other
    assert trees.get("z", 0) is one
