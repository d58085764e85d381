"""`tests/evaluation/compare.py`: what it records of a checkout, and which differences it shows."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

EVALUATION = Path(os.environ.get("EVALUATION") or Path(__file__).parent)
ROOT = EVALUATION.parents[1]
sys.path.insert(0, str(EVALUATION))

from compare import Comparison, Found, Outcome, Recording, compare, main, short_hash, shown  # noqa: E402

PROGRAM = "import torch\nw = torch.ones(3)\nw.data.add_(1)\n"


def recorded(folder: Path, checkout: Path, *options: str) -> Recording:
    out = folder.parent / f"{folder.name}.jsonl"
    assert main(["record", str(folder), "--checkout", str(checkout), "--out", str(out), "-j", "1", *options]) == 0
    return Recording.read(out)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("code")
    (folder / "a.py").write_text(PROGRAM)
    (folder / "silent.py").write_text("pass\n")
    (folder / "broken.py").write_text("import torch\nx.data = (\n")
    cells = [
        {"cell_type": "markdown", "source": "# T"},
        {"cell_type": "code", "source": ["%time\n", *PROGRAM.splitlines(True)]},
    ]
    (folder / "n.ipynb").write_text(json.dumps({"cells": cells}))
    (folder / "latin.py").write_bytes("é".encode("latin-1"))
    return recorded(folder, ROOT)


def outcome_of(recording: Recording, name: str) -> Outcome:
    return next(outcome for (path, _), outcome in recording.outcomes.items() if path.endswith(name))


def test_what_is_recorded(recording: Recording) -> None:
    assert sorted(Path(path).name for path in recording.files) == ["a.py", "broken.py", "n.ipynb", "silent.py"]
    (finding,) = outcome_of(recording, "a.py").findings
    assert (finding.code, finding.row, finding.column) == ("TPL001", 3, 1)
    assert "SourceError" in str(outcome_of(recording, "broken.py").error)
    (in_cell,) = outcome_of(recording, "n.ipynb").findings
    assert (in_cell.cell, in_cell.row) == (2, 4)
    assert in_cell.fix and finding.fix and in_cell.fix.result != finding.fix.result
    assert compare(recording, recording).differences == []


def altered(recording: Recording, change: Callable[[Found], list[Found]], **of_file: str | None) -> Comparison:
    outcomes = dict(recording.outcomes)
    for key, outcome in outcomes.items():
        if key[0].endswith("a.py"):
            found = tuple(new for each in outcome.findings for new in change(each))
            outcomes[key] = replace(outcome, findings=found, **of_file)
    return compare(recording, replace(recording, outcomes=outcomes))


def with_fix(**changes: Any) -> Callable[[Found], list[Found]]:
    return lambda found: [replace(found, fix=found.fix and replace(found.fix, **changes))]


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda found: [], ["finding lost"]),
        (lambda found: [found, found], ["finding gained"]),
        (lambda found: [replace(found, code="TPL002")], ["finding lost", "finding gained"]),
        (lambda found: [replace(found, column=9)], ["finding lost", "finding gained"]),
        (lambda found: [replace(found, end_column=2)], ["end of finding changed"]),
        (lambda found: [replace(found, message="?")], ["message changed"]),
        (lambda found: [replace(found, fix=None)], ["fix lost"]),
        (with_fix(applicability="?"), ["applicability changed"]),
        (with_fix(message="?"), ["message of fix changed"]),
        (with_fix(result="?"), ["fixed text differs"]),
        (with_fix(result="?", message="?"), ["message of fix changed", "fixed text differs"]),
        (with_fix(edits=("other",)), []),
    ],
)
def test_differences(recording: Recording, change: Callable[[Found], list[Found]], kinds: list[str]) -> None:
    comparison = altered(recording, change)
    assert [each.kind for each in comparison.differences] == kinds
    assert not kinds or any("a.py:3:1" in line for line in shown(comparison))


def test_a_whole_file_is_shown_where_no_finding_differs(recording: Recording) -> None:
    assert [each.kind for each in altered(recording, lambda found: [found], safe="?").differences] == [
        "file with all safe fixes differs"
    ]
    assert [each.kind for each in altered(recording, lambda found: [], safe="?").differences] == ["finding lost"]
    assert [each.kind for each in altered(recording, lambda found: [found], error="?").differences] == ["error differs"]


def test_a_file_with_another_text_is_passed_over(recording: Recording) -> None:
    path = next(path for path in recording.files if path.endswith("a.py"))
    comparison = compare(recording, replace(recording, files={**recording.files, path: "?"}, outcomes={}))
    assert comparison.changed == [path]
    assert [each.kind for each in comparison.differences] == ["error differs", "finding lost"]  # broken.py, n.ipynb


FAKE = """
    import os
    from types import SimpleNamespace as S

    def lint(text, *, filename, select):
        if text == "die": os._exit(3)
        if text == "crash": raise KeyError("x")
        at = lambda row, column: S(row=row, column=column)
        edits = [S(location=at(1, 1), end_location=at(1, 2), content="b")]
        fix = S(message="m", edits=edits, applicability="safe")
        found = S(code="TPL001", location=at(1, 1), end_location=at(1, 2), message="m", fix=fix)
        return [found] if text.startswith("a") else []

    def fix(text, *, filename, select, unsafe):
        return S(text="b" + text[1:])
"""


def test_a_checkout_of_any_kind(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    package, code = tmp_path / "checkout" / "torchlint", tmp_path / "code"
    package.mkdir(parents=True)
    code.mkdir()
    for name in ("die", "crash", "a\r\n"):
        (code / f"{name.strip()}.py").write_bytes(name.encode())
    source = textwrap.dedent(FAKE)
    (package / "__init__.py").write_text(source.replace("filename, select", "filename='', select"))
    recording = recorded(code, package.parent)
    assert outcome_of(recording, "die.py").error == "the process died: 3"
    assert outcome_of(recording, "crash.py").error == "KeyError: 'x' (in __init__.py, lint)"
    outcome = outcome_of(recording, "a.py")
    fix = outcome.findings[0].fix
    assert fix is not None
    assert fix.result == outcome.safe == short_hash("b\r\n")
    (package / "__init__.py").write_text("1 / 0")
    out = tmp_path / "x.jsonl"
    assert main(["record", str(code), "--checkout", str(package.parent), "--out", str(out)]) == 2
    assert "does not run" in capfd.readouterr().err
    assert not out.exists()
