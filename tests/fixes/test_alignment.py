"""Lines that move along with the first one of an expression."""

from __future__ import annotations

import pytest

from torchlint.fixes.alignment import column_behind, moved_along


def moved(text: str, column: int) -> str:
    """The text from ``«`` to ``»`` with its first line brought to a column."""
    span = text.index("«"), text.index("»") - 1
    text = text.replace("«", "").replace("»", "")
    strings = [(text.index("'''"), text.rindex("'''") + 3)] if "'''" in text else []
    for start, end, new in sorted(moved_along(span, column, text.rfind("\n", 0, span[0]) + 1, strings, text), reverse=True):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        pytest.param("x = «f(a,\n      b)»", 2, "x = f(a,\n    b)", id="to the left"),
        pytest.param("x = «f(a,\n      b)»", 6, "x = f(a,\n        b)", id="to the right"),
        pytest.param("x = «f(a,\r\n      b)»", 2, "x = f(a,\r\n    b)", id="CRLF"),
        pytest.param("x = «f(a,\n\n      b)»", 2, "x = f(a,\n\n    b)", id="empty lines stay"),
        pytest.param("x = «f(\n    b)»", 2, "x = f(\n    b)", id="hanging lines stay"),
        pytest.param("x = «f(a,\n  b)»", 2, "x = f(a,\n  b)", id="lines that are not aligned stay"),
        pytest.param("x = «f('''a\n      b''')»", 2, "x = f('''a\n      b''')", id="strings stay"),
        pytest.param("x = «f(a)»", 2, "x = f(a)", id="one line"),
    ],
)
def test_lines_move_along(text: str, column: int, expected: str) -> None:
    assert moved(text, column) == expected


@pytest.mark.parametrize(("start", "code", "column"), [(0, "ab", 2), (4, "ab", 3), (4, "a\n  b", 3), (3, "", 0)])
def test_tells_the_column(start: int, code: str, column: int) -> None:
    assert column_behind(start, code, "xy\nz = 1") == column
