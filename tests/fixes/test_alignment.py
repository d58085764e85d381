"""Lines that move along with the first one of an expression."""

from __future__ import annotations

import pytest

from torchlint.fixes import alignment
from torchlint.fixes.alignment import Aligned, column_behind, moved_along


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


def shifted(text: str, old: str, new: str) -> str:
    """The text with ``old``, which is on its first line, replaced, and the lines below it moved accordingly."""
    lines = text.split("\n")
    start = lines[0].index(old)
    shifts = Aligned(lines).shifts(0, [(start, start + len(old), new)])
    lines[0] = lines[0].replace(old, new, 1)
    moved = [
        (" " * shifts[i] + line if shifts[i] > 0 else line[-shifts[i] :]) if i in shifts else line
        for i, line in enumerate(lines)
    ]
    return "\n".join(moved)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param("x.data.f(a,\n         b)", ".data", "", "x.f(a,\n    b)", id="to the left"),
        pytest.param("x.data.f(a,\n         b)", "data", "detach()", "x.detach().f(a,\n             b)", id="to the right"),
        pytest.param("x.data.f(a,\n\n         b)", ".data", "", "x.f(a,\n\n    b)", id="empty lines stay"),
        pytest.param("x.data.f(\n    a)", ".data", "", "x.f(\n    a)", id="hanging lines stay"),
        pytest.param("x.data.f(  # why\n         a)", ".data", "", "x.f(  # why\n         a)", id="behind a comment"),
        pytest.param("x.data.f(a,\n      b)", ".data", "", "x.f(a,\n      b)", id="lines that are not aligned stay"),
        pytest.param("x.data.f(a,\n         b,\n  c)", ".data", "", "x.f(a,\n         b,\n  c)", id="nor some of them"),
        pytest.param("f(x.data,\n  b)", ".data", "", "f(x,\n  b)", id="the bracket is in front"),
        pytest.param("x.data.f(a)\ny(b,\n  c)", ".data", "", "x.f(a)\ny(b,\n  c)", id="nothing is open"),
        pytest.param(
            "x.data.f(g(a,\n           b),\n         c)", ".data", "", "x.f(g(a,\n      b),\n    c)", id="one in the other"
        ),
        pytest.param(
            "f(x.data, g(a,\n            b),\n  c)", ".data", "", "f(x, g(a,\n       b),\n  c)", id="only the inner one"
        ),
        pytest.param(
            "x.data.f(a,\n         g(\n             b))",
            ".data",
            "",
            "x.f(a,\n    g(\n        b))",
            id="what hangs below moves",
        ),
        pytest.param("x.data.f(')(', a,\n         b)", ".data", "", "x.f(')(', a,\n    b)", id="brackets in strings"),
        pytest.param("x.data.f('''a\n         b''')", ".data", "", "x.f('''a\n         b''')", id="long strings"),
        pytest.param(
            "x.data = f(a,\n           b)", ".data = f(", ".copy_(f(", "x.copy_(f(a,\n          b)", id="one bracket more"
        ),
        pytest.param("x = g(f(a,\n        b))", "g(f(", "f(", "x = f(a,\n      b))", id="one bracket less"),
        pytest.param("\tx.data.f(a,\n\t         b)", ".data", "", "\tx.f(a,\n\t         b)", id="tabs"),
    ],
)
def test_what_an_edit_pushes_aside_stays_aligned(text: str, old: str, new: str, expected: str) -> None:
    assert shifted(text, old, new) == expected


def test_nothing_is_kept_aligned_with_a_line_of_thousands_of_columns() -> None:
    values = "a, " * 1000
    text = f"x.data.f({values}\n         b)"
    assert shifted(text, ".data", "") == f"x.f({values}\n         b)"


def test_edits_of_one_long_line_cost_the_same_each(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    monkeypatch.setattr(alignment, "_opened", lambda line: looked_at.append(len(line)))
    line = "f(x.data)" * 1000
    aligned = Aligned([line, "y"])
    for start in range(0, len(line), 9):
        aligned.shifts(0, [(start + 3, start + 8, "")])
    assert sum(looked_at) == 0
