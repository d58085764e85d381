"""Findings without their fixes, as an editor shows them: the same as with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.text.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("folder", sorted(FIXTURES.iterdir())[::6], ids=lambda folder: folder.name)
def test_findings_are_the_same_less_the_fixes(folder: Path) -> None:
    text = (folder / "bad.py").read_text(encoding="utf-8")
    found = lint(Source(text, "bad.py"), all_rules())
    assert found
    assert lint(Source(text, "bad.py"), all_rules(), fixes=False) == [replace(each, fix=None) for each in found]


def test_some_of_these_have_fixes() -> None:
    text = (FIXTURES / "tpl004_graph_accumulation" / "bad.py").read_text(encoding="utf-8")
    assert any(each.fix for each in lint(Source(text, "bad.py"), all_rules()))
