"""Findings that few authors would act on are for those who select their rule by name."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.config.settings import Selection, Settings
from torchlint.engine.linter import lint
from torchlint.options import DEFAULTS, Options
from torchlint.rules.catalogue import Entry
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Syntax
from torchlint.text.source import Source

TEXT = "import torch\nx = 'a word'\ny = 'A WORD'\n"
LENIENT = Options(lenient=frozenset({"TPL998"}))


class Loud(Rule):
    """Reports strings; strictly, what is not in capitals."""

    code = "TPL998"
    name = "loud"
    triggers = (Syntax("SimpleString"),)
    needs = (("word", "WORD"),)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self.report(node, f"`{node.value}`", strict=not node.value.isupper())


class Louder(Loud):
    """Reports the same, but where the other does."""

    code = "TPL997"
    name = "louder"
    yields_to = ("TPL998",)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self.report(node, f"`{node.value}`")


def found(options: Options, *rules: type[Rule], text: str = TEXT) -> list[tuple[str, int]]:
    return [(each.code, each.location.row) for each in lint(Source(text), [Entry.of(rule) for rule in rules], options)]


def test_what_is_strict_is_left_out_where_the_rule_is_lenient() -> None:
    assert found(DEFAULTS, Loud) == [("TPL998", 2), ("TPL998", 3)]
    assert found(LENIENT, Loud) == [("TPL998", 3)]


def test_a_rule_does_not_yield_to_what_is_left_out() -> None:
    assert found(DEFAULTS, Loud, Louder) == [("TPL998", 2), ("TPL998", 3)]
    assert found(LENIENT, Loud, Louder) == [("TPL997", 2), ("TPL998", 3)]


@pytest.mark.parametrize(
    ("arguments", "lenient"),
    [
        ({}, True),
        ({"extend_select": ["TPL2"]}, True),
        ({"select": ["TPL105"]}, False),
        ({"select": ["legacy-constructor"]}, False),
        ({"select": ["TPL1"]}, False),
        ({"select": ["ALL"]}, False),
        ({"select": ["strict"]}, False),
        ({"extend_select": ["TPL105"]}, False),
        ({"extend_select": ["strict"]}, False),
    ],
)
def test_a_rule_is_lenient_unless_it_is_named(arguments: dict[str, list[str]], lenient: bool) -> None:
    layer = Selection(**{name: tuple(codes) for name, codes in arguments.items()})
    for selections in ((layer,), (layer, Selection()), (Selection(), layer)):
        assert ("TPL105" in Settings(".", selections=selections).options.lenient) is lenient
