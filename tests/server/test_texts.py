"""Places and edits in the units that protocols count in, checked against encodings; findings and edits across versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.diagnostic import Diagnostic, Location
from torchlint.server.texts import Text, Units, width
from torchlint.server.versions import edits, kept
from torchlint.text.source import Source


@pytest.mark.parametrize(
    ("units", "column"), [(Units.UTF_8, 9), (Units.UTF_16, 6), (Units.CHARACTERS, 5)], ids=["utf-8", "utf-16", "characters"]
)
def test_columns_count_units(units: Units, column: int) -> None:
    text = Text("first\nxé😀= 1\n", units)  # one, two and four bytes; one, one and two units of UTF-16
    place = text.place(Location(2, 4))
    assert place == (1, column - 2)
    assert text.offset(*place) == 9
    assert text.place(Location(2, 6)) == (1, column)
    assert text.location(1, column) == Location(2, 6)


def test_lines_end_where_the_protocol_says() -> None:
    text = Text("a\rb\r\nc\x0cd\u2028e\x85f\n", Units.UTF_16)
    assert text.lines == ["a\r", "b\r\n", "c\x0cd\u2028e\x85f\n", ""]
    assert text.place(Location(3, 4)) == (2, 3)


def test_places_behind_an_end_are_that_end() -> None:
    text = Text("ab\r\nc", Units.UTF_16)
    assert [text.offset(0, 9), text.offset(1, 9), text.offset(7, 0)] == [2, 5, 5]


@given(st.text(st.sampled_from("aé😀\n\r\u2028"), max_size=20), st.integers(0, 20), st.sampled_from(list(Units)))
def test_every_place_is_found_again(text: str, offset: int, units: Units) -> None:
    given_text = Text(text, units)
    offset = min(offset, len(text))
    location = Source(text).location(offset)
    found = given_text.offset(*given_text.place(location))
    inside_newline = text[offset - 1 : offset + 1] == "\r\n"
    assert found == offset - inside_newline


@given(st.text(max_size=5), st.sampled_from(list(Units)))
def test_width_is_that_of_the_encoding(text: str, units: Units) -> None:
    encoding, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[units]
    assert width(text, units) == len(text.encode(encoding, "surrogatepass")) // size


_LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n"]), max_size=12).map("".join)


@given(_LINES, _LINES, st.sampled_from(["", "end"]), st.sampled_from(["", "other"]))
def test_edits_lead_from_one_text_to_the_other(before: str, after: str, tail: str, new_tail: str) -> None:
    before, after = before + tail, after + new_tail
    assert Source(before).edited(edits(before, after)) == after


def finding(row: int, last: int | None = None) -> Diagnostic:
    return Diagnostic("TPL001", "n", "m", "f", Location(row, 2), Location(last or row, 3), None, "")


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", [1, 2, 3]),
        ("a\nb\nc\n", "new\na\nb\nc\n", [2, 3, 4]),
        ("a\nb\nc\n", "a\nB\nc\n", [1, 3]),
        ("a\nb\nc\n", "c\n", [1]),
        ("a\nb\nc\n", "X\na\nY\nb\nZ\nc\nW\n", [2, 4, 6]),
        ("a\nb\nc\n", "", []),
    ],
)
def test_findings_stay_on_lines_that_stay(before: str, after: str, rows: list[int]) -> None:
    assert [each.location.row for each in kept([finding(1), finding(2), finding(3)], before, after)] == rows


def test_a_finding_of_several_lines_stays_where_they_stay_together() -> None:
    assert [each.end_location.row for each in kept([finding(1, 2)], "a\nb\n", "x\na\nb\n")] == [3]
    assert kept([finding(1, 2)], "a\nb\n", "a\nx\nb\n") == []
