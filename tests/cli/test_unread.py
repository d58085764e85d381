"""What cannot be read is said to the end, and hides nothing else: scripts, cells, what comes from standard input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import torchlint
from command import torchlint_
from torchlint.text.magics import read

TYPO = "import torch\np = torch.nn.Linear(1, 1).weight\np.requres_grad = False\n"
BROKEN = "import torch\ndef f(:\n    p.requres_grad = 1\n"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def notebook(*codes: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": code.splitlines(keepends=True)} for code in codes]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def codes_of(name: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(Path(name).read_text())["cells"]]


# --- said last -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--statistics"], ["--output-format", "concise"], ["--output-format", "grouped"]])
def test_the_last_line_counts_the_files_that_could_not_be_read(options: list[str]) -> None:
    Path("a.py").write_text(TYPO)
    for name in "bcdef":
        Path(f"{name}.py").write_text(BROKEN)
    finished = torchlint_(*options, ".")
    assert finished.stdout.splitlines()[-1] == "5 files could not be read: b.py, c.py, d.py and 2 more."
    assert (finished.stderr.count("\n"), finished.returncode) == (5, 2)


@pytest.mark.parametrize("options", [["--diff"], ["--add-noqa"], ["--write-baseline", "b.json"]])
def test_runs_without_a_report_say_it_too(options: list[str]) -> None:
    Path("a.py").write_text(TYPO)
    Path("b.py").write_text(BROKEN)
    finished = torchlint_(*options, ".")
    assert "1 file could not be read: b.py.\n" in finished.stderr
    assert finished.returncode == 2


def test_the_count_is_in_the_statistics_for_programs() -> None:
    Path("b.py").write_text(BROKEN)
    rows = json.loads(torchlint_("--statistics", "--output-format", "json", "b.py", "none.py").stdout)
    assert [(row["code"], row["count"]) for row in rows] == [("invalid-syntax", 1), ("io-error", 1)]


def test_a_file_that_was_read_but_not_written_is_told_apart() -> None:
    Path("a.py").write_text(TYPO)
    Path("a.py").chmod(0o444)
    finished = torchlint_("--fix", "a.py")
    assert finished.stdout.splitlines()[-1] == "1 file could not be linted in full: a.py."


# --- never "no findings" ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["import torch\ndef f(:\n", "def f(:", "x = (", "print 'x'\n"])
def test_standard_input_and_library_always_say_what_is_no_python(text: str) -> None:
    for options in ([], ["--fix"], ["--diff"], ["--add-noqa"], ["--select", "TPL005"]):
        finished = torchlint_(*options, "-", given=text)
        assert finished.returncode == 2
        assert "cannot parse" in finished.stderr
        assert "No findings" not in finished.stdout
    for asked in (torchlint.lint, torchlint.fix):
        with pytest.raises(torchlint.SourceError, match="cannot parse"):
            asked(text)


def test_a_file_that_no_rule_is_interested_in_need_not_be_parsed() -> None:
    Path("a.py").write_text("def f(:")
    finished = torchlint_("a.py")
    assert (finished.stdout, finished.stderr, finished.returncode) == ("No findings.\n", "", 0)


# --- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["future_fstrings", "future-fstrings", "Future_Annotations"])
def test_encodings_that_other_packages_register_are_utf_8(name: str) -> None:
    text = f"# -*- coding: {name} -*-\n{TYPO}x = f'é{{p}}'\n"
    Path("a.py").write_text(text, encoding="utf-8")
    assert torchlint_("--fix", "a.py").returncode == 0
    assert Path("a.py").read_text(encoding="utf-8") == text.replace("requres", "requires")


@pytest.mark.parametrize(
    ("name", "encoding"),
    [("utf-8-unix", "utf-8"), ("UTF_8_dos", "utf-8"), ("latin-1-unix", "latin-1"), ("iso-8859-1-mac", "latin-1")],
)
def test_encodings_are_understood_as_python_does(name: str, encoding: str) -> None:
    text = f"# -*- coding: {name} -*-\n{TYPO}x = 'é'\n"
    Path("a.py").write_text(text, encoding=encoding)
    compile(Path("a.py").read_bytes(), "a.py", "exec")
    assert torchlint_("--fix", "a.py").returncode == 0
    assert Path("a.py").read_text(encoding=encoding) == text.replace("requres", "requires")


def test_a_declared_encoding_that_python_does_not_know_is_refused() -> None:
    Path("a.py").write_text(f"# -*- coding: utf8-unix -*-\n{TYPO}")
    finished = torchlint_("a.py")
    assert (finished.stderr.splitlines()[0], finished.returncode) == ("a.py: error: unknown encoding: utf8-unix", 2)


# --- cells -----------------------------------------------------------------------------------------------------------


def test_a_cell_that_is_no_python_is_reported_and_passed_over() -> None:
    Path("a.ipynb").write_text(notebook("import torch", "x = 1\nprint 'x'\n%ls", TYPO, "y = ("))
    before = Path("a.ipynb").read_text()
    finished = torchlint_("--output-format", "json", "a.ipynb")
    found = json.loads(finished.stdout)
    assert [(each["code"], each["cell"], each["location"]["row"]) for each in found] == [
        ("TPL005", 3, 3),
        ("invalid-syntax", 2, 2),
        ("invalid-syntax", 4, 1),
    ]
    finished = torchlint_("--fix", "a.ipynb")
    assert finished.stdout.splitlines()[-1] == "1 file could not be linted in full: a.ipynb."
    assert finished.returncode == 2
    assert Path("a.ipynb").read_text() == before.replace("requres", "requires")
    assert torchlint_("--add-noqa", "a.ipynb").returncode == 2


def test_nothing_is_said_of_cells_that_no_rule_is_interested_in() -> None:
    Path("a.ipynb").write_text(notebook("print 'x'", "x = 1"))
    assert torchlint_("a.ipynb").returncode == 0
    assert torchlint_("-", "--stdin-filename", "a.ipynb", given=Path("a.ipynb").read_text()).returncode == 2


def test_the_library_raises_with_the_findings_of_the_other_cells() -> None:
    text = notebook("import torch", "print 'x'", TYPO)
    with pytest.raises(torchlint.SourceError, match="cell 2:1:1: error: cannot parse") as raised:
        torchlint.lint(text, filename="a.ipynb")
    assert [(found.code, found.cell) for found in raised.value.found] == [("TPL005", 3)]
    result = torchlint.fix(text, filename="a.ipynb")
    assert result.text == text.replace("requres", "requires")
    assert [error.cell for error in result.errors] == [2]


READ_BY_IPYTHON = [
    " x = 1\n y = 2",
    "  def f():\n    return 1\n  f()",
    "\tx = 1\n\n\ty = '''\na'''\n",
    " x = 1\ny = 2",
    "\n\n  x = 1",
    "  %time x\n  x = 1",
    "  !ls\n  if x:\n    %cd ..\n",
    "await f()\nasync with g() as h:\n    [x async for x in h]",
    "y = await f()\nz = %pwd",
    "\n \n%%time\nx = await f()",
    "\n%%bash\nif [ ]; then",
    "x = (1\n% 2\n/ 3)\n!ls (",
    "x = '''\n!ls '\n%cd\n'''\n%cd '''",
    "x = 1 \\\n% 2\n?x",
    "x = [1  # (\n, 2]\n!ls",
    "/f 1 2\n,f a b\n;f a b",
    "f??\n%%time?\nx.y?",
    "s = 'it\\'s (' \"]\"\n!ls",
    "# it's (\n!ls",
]


@pytest.mark.parametrize("code", READ_BY_IPYTHON)
def test_cells_are_read_as_ipython_reads_them(code: str) -> None:
    text = notebook("import torch", code, TYPO, code)
    Path("a.ipynb").write_text(text)
    finished = torchlint_("--fix", "a.ipynb")
    assert (finished.stdout, finished.stderr, finished.returncode) == ("Found 1 error (1 fixed, 0 remaining).\n", "", 0)
    assert Path("a.ipynb").read_text() == text.replace("requres", "requires")


def test_an_indented_cell_is_fixed_where_it_stands() -> None:
    code = "  w = torch.nn.Linear(2, 2).weight\n  w.data.mul_(2)\n  %ls\n  w.requres_grad = False\n"
    Path("a.ipynb").write_text(notebook("import torch", code))
    found = json.loads(torchlint_("--output-format", "json", "a.ipynb").stdout)
    assert [(each["cell"], each["location"]) for each in found] == [
        (2, {"row": 2, "column": 3}),
        (2, {"row": 4, "column": 3}),
    ]
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    assert codes_of("a.ipynb") == [
        "import torch",
        "  w = torch.nn.Linear(2, 2).weight\n  with torch.no_grad():\n    w.mul_(2)\n  %ls\n  w.requires_grad = False\n",
    ]


def test_the_error_of_an_indented_cell_is_where_it_is() -> None:
    Path("a.ipynb").write_text(notebook("import torch", "  x = 1\n  p.requres_grad = ("))
    assert torchlint_("a.ipynb").stderr.startswith("a.ipynb:cell 2:2:20: error: cannot parse")


def test_lines_in_brackets_and_strings_are_python() -> None:
    lines = list(read("x = (\n%a\n)\n%a\ny = %b\n'''\n!c\n'''; !d\n"))
    assert [line.text for line in lines if line.is_magic] == ["%a\n", "y = %b\n"]
    assert lines[3].kept == "" and lines[4].kept == "y = "


# --- flat, and not refused -------------------------------------------------------------------------------------------


FLAT = {
    "swaps": "a, b = x, x\n" + "a, b = b, a\n" * 1500 + "c = a.data\n",
    "renames": "x0 = x\n" + "".join(f"x{i + 1} = x{i}\n" for i in range(4000)) + "y = x4000.data\n",
    "signs": f"y = x.data\nz = {'-' * 2000}1\n",
    "a written-out determinant": f"x.add_(1)\nout[0][0] = {' + '.join(['m[0][1]'] * 300)}\ny = x.data\n",
    "one name of 80,000 bytes": f"{'requires_gra' * 6667} = x.data\n",
}


@pytest.mark.parametrize("action", [[], ["--fix", "--unsafe-fixes"]], ids=["lint", "fix"])
@pytest.mark.parametrize("name", FLAT)
def test_what_pythons_parser_takes_is_linted_and_fixed(name: str, action: list[str]) -> None:
    Path("a.py").write_text(f"import torch\nx = torch.ones(1, requires_grad=True)\n{FLAT[name]}")
    finished = torchlint_("--select", "TPL002", *action, "a.py")
    assert (finished.stderr, finished.returncode) == ("", 0 if action else 1)


# --- a statement that is nested too deeply ---------------------------------------------------------------------------

DEEP = "x = " + "p.data and " * 3000 + "1"
"""Flat to Python, and deeper than what libcst is given."""
WITH_DEEP = f"{TYPO}{DEEP}  # noqa: TPL002\np.requires_gard = True\n"
NOT_LOOKED_AT = "a.py:4:1: error: not looked at: the statement is nested too deeply; the rest of the file is linted\n"


def test_a_statement_that_is_nested_too_deeply_costs_no_other() -> None:
    Path("a.py").write_text(WITH_DEEP)
    finished = torchlint_("--isolated", "--no-cache", "--output-format", "concise", "a.py")
    assert [line.partition(" ")[0] for line in finished.stdout.splitlines()[:2]] == ["a.py:3:1:", "a.py:5:1:"]
    assert finished.stdout.splitlines()[-1] == "1 file could not be linted in full: a.py."
    assert (finished.stderr, finished.returncode) == (NOT_LOOKED_AT, 2)


def test_no_comment_in_it_is_said_to_silence_nothing() -> None:
    Path("a.py").write_text(WITH_DEEP + "p = 1  # noqa: TPL005\n")
    finished = torchlint_("--isolated", "--no-cache", "--select", "TPL002,TPL005,TPL900", "--output-format", "concise", "a.py")
    assert [line.split(" ")[:2] for line in finished.stdout.splitlines() if "TPL900" in line] == [["a.py:6:16:", "TPL900"]]


def test_the_rest_is_fixed_and_the_statement_stays_byte_for_byte() -> None:
    Path("a.py").write_text(WITH_DEEP)
    finished = torchlint_("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "a.py")
    assert (finished.stderr, finished.returncode) == (NOT_LOOKED_AT, 2)
    assert Path("a.py").read_text() == WITH_DEEP.replace("requres", "requires").replace("gard", "grad")
    again = torchlint_("--isolated", "--fix", "a.py"), torchlint_("--isolated", "--fix", "a.py")  # the second from the cache
    assert [(each.stderr, each.returncode) for each in again] == [(NOT_LOOKED_AT, 2)] * 2


def test_the_library_says_of_it_and_has_the_findings_of_the_rest() -> None:
    with pytest.raises(torchlint.SourceError, match="nested too deeply") as raised:
        torchlint.lint(WITH_DEEP)
    assert [found.location.row for found in raised.value.found] == [3, 5]
    fixed = torchlint.fix(WITH_DEEP, unsafe=True)
    assert [error.location and error.location.row for error in fixed.errors] == [4]
    assert fixed.text == WITH_DEEP.replace("requres", "requires").replace("gard", "grad")


def test_in_a_cell_it_has_the_place_of_the_cell() -> None:
    Path("a.ipynb").write_text(notebook(TYPO, f"{DEEP}\np.requres_grad = True\n"))
    finished = torchlint_("--isolated", "--no-cache", "--output-format", "concise", "a.ipynb")
    assert finished.stderr == NOT_LOOKED_AT.replace("a.py:4:1", "a.ipynb:cell 2:1:1")
    assert finished.stdout.count("TPL005") == 2
