"""Every rule on its fixtures: what it reports, what its fixes make of it, and what it leaves alone.

`torchlint.proof.fixtures` says how the findings that a file must have are marked in it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable
from functools import cache
from pathlib import Path

import libcst
import pytest

from forms import is_thorough
from torchlint.diagnostic import Applicability, Diagnostic
from torchlint.engine.fixer import FixResult, fix
from torchlint.engine.linter import lint
from torchlint.proof.fixtures import COMMENT, Expected, expectations, folder_of
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"
each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def folder(rule: Entry) -> Path:
    return FIXTURES / folder_of(rule)


@cache
def read(rule: Entry, name: str) -> str:
    return (folder(rule) / name).read_bytes().decode()


# What is said of a text is the same each time, so it is asked once, however many tests look at it.


@cache
def findings(text: str, rule: Entry) -> list[Diagnostic]:
    return lint(Source(text), [rule])


@cache
def findings_of_all(text: str) -> list[Diagnostic]:
    return lint(Source(text), all_rules())


@cache
def fixed(text: str, rule: Entry, applicability: Applicability = Applicability.UNSAFE) -> FixResult:
    return fix(Source(text), [rule], applicability)


def places(diagnostics: list[Diagnostic]) -> list[tuple[object, ...]]:
    return sorted(
        ((found.code, found.location, found.end_location, found.message, found.fix) for found in diagnostics), key=repr
    )


# --- what is reported ------------------------------------------------------------------------------------------------


@each_rule
def test_reports_the_marked_lines_and_no_others(rule: Entry) -> None:
    text = read(rule, "bad.py")
    expected = sorted(marker.row for marker in expectations(text, rule.code))
    assert expected
    assert sorted(found.location.row for found in findings(text, rule)) == expected


@each_rule
def test_reports_up_to_the_marked_column(rule: Entry) -> None:
    text = read(rule, "bad.py")
    reported = findings(text, rule)
    for marker in expectations(text, rule.code):
        if marker.end_column is not None:
            assert marker.end_column in [found.end_location.column for found in reported if found.location.row == marker.row]


@each_rule
def test_fixes_are_as_safe_as_marked(rule: Entry) -> None:
    text = read(rule, "bad.py")
    expected = sorted((marker.row, str(marker.applicability)) for marker in expectations(text, rule.code))
    offered = sorted((found.location.row, str(found.fix and found.fix.applicability)) for found in findings(text, rule))
    assert offered == expected


@each_rule
def test_what_few_would_change_is_marked_as_strict(rule: Entry) -> None:
    text = read(rule, "bad.py")
    expected = sorted((marker.row, marker.is_strict) for marker in expectations(text, rule.code))
    assert sorted((found.location.row, found.is_strict) for found in findings(text, rule)) == expected


@each_rule
def test_says_what_it_is_about(rule: Entry) -> None:
    for found in findings(read(rule, "bad.py"), rule):
        assert found.name == rule.name
        assert "`" in found.message  # the code at hand, not a general remark
        assert "\n" not in found.message
        assert found.snippet == read(rule, "bad.py").split("\n")[found.location.row - 1]


@each_rule
def test_leaves_good_code_alone(rule: Entry) -> None:
    assert findings(read(rule, "good.py"), rule) == []


# --- what is fixed ---------------------------------------------------------------------------------------------------


@each_rule
def test_fixes_bad_to_fixed(rule: Entry) -> None:
    result = fixed(read(rule, "bad.py"), rule)
    assert result.text == read(rule, "fixed.py")
    assert result.broken == ()


@each_rule
def test_fixing_twice_changes_nothing(rule: Entry) -> None:
    assert fixed(read(rule, "fixed.py"), rule).text == read(rule, "fixed.py")


@each_rule
def test_what_is_left_has_no_fix(rule: Entry) -> None:
    left = fixed(read(rule, "bad.py"), rule).remaining
    without_fix = [marker for marker in expectations(read(rule, "bad.py"), rule.code) if marker.applicability is None]
    assert len(left) == len(without_fix)
    assert all(found.fix is None for found in left)


@each_rule
def test_safe_fixes_leave_the_unsafe_ones(rule: Entry) -> None:
    text = read(rule, "bad.py")
    result = fixed(text, rule, Applicability.SAFE)
    not_safe = [marker for marker in expectations(text, rule.code) if marker.applicability is not Applicability.SAFE]
    assert len(result.remaining) == len(not_safe)
    assert result.broken == ()
    ast.parse(result.text)


@each_rule
def test_fixed_code_is_python_to_two_parsers(rule: Entry) -> None:
    ast.parse(read(rule, "fixed.py"))
    assert libcst.parse_module(read(rule, "fixed.py")).code == read(rule, "fixed.py")


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if not rule.is_about_comments], ids=lambda rule: rule.code)
def test_comments_survive_the_fix(rule: Entry) -> None:
    assert comments(fixed(read(rule, "bad.py"), rule).text) == comments(read(rule, "bad.py"))


def comments(text: str) -> list[str]:
    """The comments, but for the markers, which go with a line that a fix deletes."""

    lines = io.StringIO(text, newline="").readline
    found = (token.string for token in tokenize.generate_tokens(lines) if token.type == tokenize.COMMENT)
    return sorted(comment for comment in found if not COMMENT.search(comment))


# --- the same text in other clothes ----------------------------------------------------------------------------------


@each_rule
@pytest.mark.parametrize("newline", ["\r\n", "\r"], ids=["CRLF", "CR"])
def test_newlines_make_no_difference(rule: Entry, newline: str) -> None:
    assert_same_in_disguise(rule, lambda text: text.replace("\n", newline))


@each_rule
def test_tabs_make_no_difference(rule: Entry) -> None:
    disguise = tabbed
    plain, tabs = read(rule, "bad.py"), disguise(read(rule, "bad.py"))
    assert [found.location.row for found in findings(tabs, rule)] == [found.location.row for found in findings(plain, rule)]
    assert fixed(tabs, rule).text == disguise(read(rule, "fixed.py"))


def tabbed(text: str) -> str:
    return re.sub(r"(?m)^(?:    )+", lambda indent: "\t" * (len(indent.group()) // 4), text)


def assert_same_in_disguise(rule: Entry, disguise: Callable[[str], str]) -> None:
    plain, disguised = findings(read(rule, "bad.py"), rule), lint(Source(disguise(read(rule, "bad.py"))), [rule])
    assert [found.location for found in disguised] == [found.location for found in plain]
    assert [found.end_location for found in disguised] == [found.end_location for found in plain]
    assert fixed(disguise(read(rule, "bad.py")), rule).text == disguise(read(rule, "fixed.py"))


@each_rule
def test_a_byte_order_mark_makes_no_difference(rule: Entry) -> None:
    source = Source.decode(b"\xef\xbb\xbf" + read(rule, "bad.py").encode(), "bad.py")
    assert [found.location for found in lint(source, [rule])] == [found.location for found in findings(source.text, rule)]
    repaired = fix(source, [rule], Applicability.UNSAFE)
    assert source.encode(repaired.text) == b"\xef\xbb\xbf" + read(rule, "fixed.py").encode()


# --- ways of running -------------------------------------------------------------------------------------------------


WHOLE = [path for path in sorted(FIXTURES.glob("*/*.py")) if is_thorough() or path.stem != "fixed"]
"""The fixtures that are looked at as a whole; what fixes make of them, where little is left to find, only in the long form."""


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_triggers_hide_no_finding(path: Path) -> None:
    """Every rule on the whole module, under libcst's own traversal."""
    text = path.read_bytes().decode()
    assert places(lint(Source(text), all_rules(), triggers=False)) == places(findings_of_all(text))


@each_rule
def test_all_rules_together_report_what_each_reports_alone(rule: Entry) -> None:
    text = read(rule, "bad.py")
    together = [found for found in findings_of_all(text) if found.code == rule.code]
    assert places(together) == places(findings(text, rule))


def test_markers_are_read_as_described() -> None:
    marked = (
        "a()  # TPL001",
        "b()  # why  # TPL001 -> 14 (unsafe), TPL001 (no fix), TPL002",
        "# next line: TPL001",
        "c()",
        "d()  # TPL00",
        "e()  # TPL001 strict, TPL001 strict -> 7 (unsafe)",
    )
    text = "\n".join(marked)
    assert expectations(text, "TPL001") == [
        Expected(1, None, Applicability.SAFE),
        Expected(2, 14, Applicability.UNSAFE),
        Expected(2, None, None),
        Expected(4, None, Applicability.SAFE),
        Expected(6, None, Applicability.SAFE, is_strict=True),
        Expected(6, 7, Applicability.UNSAFE, is_strict=True),
    ]
