"""What the output formats look like."""

from __future__ import annotations

import json
import os

import pytest

from torchlint.diagnostic import Applicability, Diagnostic, Edit, FileError, Fix, Location
from torchlint.reporters import FORMATS, render
from torchlint.reporters.report import Report


def finding(
    snippet: str,
    start: tuple[int, int],
    end: tuple[int, int],
    *,
    fix: Applicability | None = None,
    filename: str = "src/a.py",
) -> Diagnostic:
    reason = "`h` may be no tensor" if fix is Applicability.UNSAFE else ""
    return Diagnostic(
        code="TPL002",
        name="data-access",
        message="`h.data` hides later changes",
        filename=filename,
        location=Location(*start),
        end_location=Location(*end),
        fix=Fix("Use `h.detach()`", (Edit(Location(*start), Location(*end), "h.detach()"),), fix, reason) if fix else None,
        snippet=snippet,
    )


PLAIN = finding("x = h.data + 1", (12, 5), (12, 11))
SAFE = finding("x = h.data + 1", (12, 5), (12, 11), fix=Applicability.SAFE)
UNSAFE = finding("x = h.data + 1", (12, 5), (12, 11), fix=Applicability.UNSAFE)


def written(
    name: str,
    *diagnostics: Diagnostic,
    errors: tuple[FileError, ...] = (),
    fixed: int = 0,
    applicability: Applicability = Applicability.SAFE,
) -> str:
    fixed_in = {"src/a.py": [PLAIN] * fixed} if fixed else {}
    return "".join(render(name, Report(diagnostics, errors, applicability, fixed_in)))


def test_full() -> None:
    assert (
        written("full", SAFE, PLAIN)
        == """\
src/a.py:12:5: TPL002 [*] `h.data` hides later changes
   |
12 | x = h.data + 1
   |     ^^^^^^
   |
help: Use `h.detach()`

src/a.py:12:5: TPL002 `h.data` hides later changes
   |
12 | x = h.data + 1
   |     ^^^^^^
   |

Found 2 errors.
[*] 1 fixable with the `--fix` option.
"""
    )


def test_concise() -> None:
    assert (
        written("concise", SAFE, UNSAFE)
        == """\
src/a.py:12:5: TPL002 [*] `h.data` hides later changes
src/a.py:12:5: TPL002 `h.data` hides later changes
Found 2 errors.
[*] 1 fixable with the `--fix` option (1 hidden fix can be enabled with the `--unsafe-fixes` option).
"""
    )


@pytest.mark.parametrize(
    ("snippet", "start", "end", "code", "underline"),
    [
        ("\ty = h.data", 6, 12, "    y = h.data", "        ^^^^^^"),
        ("  \ty =\th.data", 8, 14, "    y = h.data", "        ^^^^^^"),
        ("日本 = h.data", 6, 12, "日本 = h.data", "       ^^^^^^"),
        ("日本.data", 1, 8, "日本.data", "^^^^^^^^^"),
        ("e\u0301 = h.data", 6, 12, "e\u0301 = h.data", "    ^^^^^^"),
        ("🔥 = h.data", 5, 11, "🔥 = h.data", "     ^^^^^^"),
        ("\fx = h.data", 6, 12, "␌x = h.data", "     ^^^^^^"),
        ("x = '\x1b[31m', h.data", 14, 20, "x = '␛[31m', h.data", "             ^^^^^^"),
        ("", 1, 1, "", "^"),
    ],
)
def test_the_place_is_underlined(snippet: str, start: int, end: int, code: str, underline: str) -> None:
    lines = written("full", finding(snippet, (7, start), (7, end))).splitlines()
    assert lines[2:4] == [f"7 | {code}".rstrip(), f"  | {underline}"]


def test_a_span_over_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    lines = written("full", finding("x = (h", (7, 6), (9, 3))).splitlines()
    assert lines[2:4] == ["7 | x = (h", "  |      ^"]


def test_of_a_very_long_line_the_part_around_the_finding_is_shown() -> None:
    line = "a" * 100_000 + "h.data" + "b" * 100_000
    lines = written("full", finding(line, (7, 100_001), (7, 100_007))).splitlines()
    assert lines[2] == "7 | …" + "a" * 40 + "h.data" + "b" * 114 + "…"
    assert lines[3] == "  |  " + " " * 40 + "^^^^^^"


@pytest.mark.parametrize(
    ("diagnostics", "fixed", "applicability", "expected"),
    [
        ((), 0, Applicability.SAFE, "No findings.\n"),
        ((PLAIN,), 0, Applicability.SAFE, "Found 1 error.\n"),
        ((), 2, Applicability.SAFE, "Found 2 errors (2 fixed, 0 remaining).\n"),
        ((PLAIN,), 2, Applicability.SAFE, "Found 3 errors (2 fixed, 1 remaining).\n"),
        ((SAFE, SAFE), 0, Applicability.SAFE, "Found 2 errors.\n[*] 2 fixable with the `--fix` option.\n"),
        (
            (UNSAFE,) * 3,
            0,
            Applicability.SAFE,
            "Found 3 errors.\nNo fixes available (3 hidden fixes can be enabled with the `--unsafe-fixes` option).\n",
        ),
        ((UNSAFE, SAFE), 0, Applicability.UNSAFE, "Found 2 errors.\n[*] 2 fixable with the `--fix` option.\n"),
    ],
)
def test_the_summary(diagnostics: tuple[Diagnostic, ...], fixed: int, applicability: Applicability, expected: str) -> None:
    for name in ("full", "concise"):
        assert written(name, *diagnostics, fixed=fixed, applicability=applicability).endswith(expected)


def test_a_run_with_errors_has_not_passed() -> None:
    assert written("full", errors=(FileError("b.py", "cannot read"),)) == "1 file could not be read: b.py.\n"


def test_json() -> None:
    error = FileError("bad.py", "cannot parse: x", Location(3, 4))
    unreadable = FileError("gone.py", "No such file or directory", code="io-error")
    assert json.loads(written("json", UNSAFE, PLAIN, errors=(error, unreadable))) == [
        {
            "cell": None,
            "code": "TPL002",
            "end_location": {"column": 11, "row": 12},
            "filename": os.path.join(os.getcwd(), "src/a.py"),
            "fix": {
                "applicability": "unsafe",
                "edits": [
                    {
                        "content": "h.detach()",
                        "end_location": {"column": 11, "row": 12},
                        "location": {"column": 5, "row": 12},
                    }
                ],
                "message": "Use `h.detach()`",
                "reason": "`h` may be no tensor",
            },
            "location": {"column": 5, "row": 12},
            "message": "`h.data` hides later changes",
            "name": "data-access",
            "noqa_row": 12,
            "severity": "error",
            "url": "https://github.com/torchlint/torchlint/blob/main/docs/rules/TPL002.md",
        },
        {
            "cell": None,
            "code": "TPL002",
            "end_location": {"column": 11, "row": 12},
            "filename": os.path.join(os.getcwd(), "src/a.py"),
            "fix": None,
            "location": {"column": 5, "row": 12},
            "message": "`h.data` hides later changes",
            "name": "data-access",
            "noqa_row": 12,
            "severity": "error",
            "url": "https://github.com/torchlint/torchlint/blob/main/docs/rules/TPL002.md",
        },
        {
            "cell": None,
            "code": "invalid-syntax",
            "end_location": {"column": 4, "row": 3},
            "filename": os.path.join(os.getcwd(), "bad.py"),
            "fix": None,
            "location": {"column": 4, "row": 3},
            "message": "cannot parse: x",
            "name": "invalid-syntax",
            "noqa_row": None,
            "severity": "error",
            "url": None,
        },
        {
            "cell": None,
            "code": "io-error",
            "end_location": {"column": 1, "row": 1},
            "filename": os.path.join(os.getcwd(), "gone.py"),
            "fix": None,
            "location": {"column": 1, "row": 1},
            "message": "No such file or directory",
            "name": "io-error",
            "noqa_row": None,
            "severity": "error",
            "url": None,
        },
    ]


def test_json_of_nothing_is_an_empty_array() -> None:
    assert json.loads(written("json")) == []


def test_standard_input_has_no_absolute_path() -> None:
    [entry] = json.loads(written("json", finding("h.data", (1, 1), (1, 7), filename="<stdin>")))
    assert entry["filename"] == "<stdin>"


def test_every_format_can_write_what_is_no_text() -> None:
    strange = finding("\udcff = h.data", (1, 5), (1, 11), filename="\udcff.py")
    for name in FORMATS:
        assert "TPL002" in written(name, strange)
