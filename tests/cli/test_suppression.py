"""What noqa comments silence: the same as in flake8."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.engine.linter import lint
from torchlint.rules.selection import select_rules
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

# Each line with `== None` has flake8's E711; those that are not silent say so.
INLINE = '''\
x == None  # noqa
x == None  # noqa: E711
x == None  # noqa: E501, NOT SILENT
x == None  # NoQA:E7
x == None  # noqa: E501,E711
x == None  # noqa: E501 E711
x == None  # noqa:E501  E711, because
x == None  # noqa : E501
x == None  # noqa E501
x == None  # noqa: because
x == None  # type: ignore  # noqa
x == None  #noqa NOT SILENT
x == None  # noqa: e711 NOT SILENT
x == None  # NOT SILENT
f(x == None,  # NOT SILENT
  y)  # noqa
f(x,
  y == None)  # noqa
s = (x == None, """
text
""")  # noqa
t = """
""", x == None, """
"""  # noqa: E711
u = x == None + \\
    1  # noqa
v = """ # noqa
""", x == None
w = """
""", x == None, "NOT SILENT"
x == None  # noqa:
E5 = 1
'''


def rows_with(text: str, part: str) -> list[int]:
    return [row for row, line in enumerate(text.splitlines(), 1) if part in line]


def test_inline_comments() -> None:
    suppressions = Suppressions(Source(INLINE))
    silent = [row for row in rows_with(INLINE, "== None") if suppressions.covers("E711", row)]
    assert silent == [row for row in rows_with(INLINE, "== None") if row not in rows_with(INLINE, "NOT SILENT")]


def test_flake8_agrees_about_inline_comments(tmp_path: Path) -> None:
    path = tmp_path / "inline.py"
    path.write_text(INLINE)
    command = [sys.executable, "-m", "flake8", "--isolated", "--select=E711", "--format=%(row)d", str(path)]
    reported = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert [int(row) for row in reported.split()] == rows_with(INLINE, "NOT SILENT")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_newlines(newline: str) -> None:
    suppressions = Suppressions(Source(f"a{newline}b  # noqa: TPL001{newline}c = '''{newline}'''  # noqa{newline}d"))
    assert [row for row in range(1, 6) if suppressions.covers("TPL001", row)] == [2, 3, 4]
    assert [row for row in range(1, 6) if suppressions.covers("TPL002", row)] == [3, 4]


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("# torchlint: noqa", "TPL001 TPL002 TPL101"),
        ("# flake8: noqa", "TPL001 TPL002 TPL101"),
        ("    # TorchLint: NoQA", "TPL001 TPL002 TPL101"),
        ("# torchlint: noqa: TPL001", "TPL001"),
        ("# torchlint: noqa:TPL0", "TPL001 TPL002"),
        ("# flake8: noqa: TPL101, TPL002", "TPL002 TPL101"),
        ("# torchlint: noqa: TPL001 generated code", "TPL001"),
        ("x = 1  # torchlint: noqa", ""),
        ("x = 1  # flake8: noqa", ""),
        ("# torchlint: noqas", ""),
        ("# ruff: noqa", ""),
    ],
)
def test_comments_that_speak_for_the_file(comment: str, silent: str) -> None:
    suppressions = Suppressions(Source(f"a = 1\r\n{comment}\r\nb = 2\r\n"))
    assert " ".join(code for code in ("TPL001", "TPL002", "TPL101") if suppressions.covers(code, 1)) == silent


def test_several_comments_for_the_file_add_up() -> None:
    suppressions = Suppressions(Source("# torchlint: noqa: TPL001\n# torchlint: noqa: TPL1\n"))
    assert [code for code in ("TPL001", "TPL002", "TPL101") if suppressions.covers(code, 7)] == ["TPL001", "TPL101"]


def test_text_that_is_no_python_still_has_comments() -> None:
    suppressions = Suppressions(Source("x = (  # noqa\ny = 2  # noqa: TPL001\nz = 3\n"))
    assert [row for row in (1, 2, 3) if suppressions.covers("TPL001", row)] == [1, 2]


def test_findings_that_a_comment_silences_are_not_reported() -> None:
    text = """\
import torch
p = torch.ones(1)
p.requres_grad = False
p.requres_grad = False  # noqa: TPL005
p.requres_grad = False  # noqa: TPL001
"""
    found = lint(Source(text), select_rules(["TPL005"]))
    assert [diagnostic.location.row for diagnostic in found] == [3, 5]
