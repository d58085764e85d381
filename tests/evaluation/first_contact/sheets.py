"""Judging sheets: findings drawn at random, shown with the code round them, and the labels that readers give them."""

from __future__ import annotations

import difflib
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from first_findings import FirstFinding, Repositories, read_about, read_fixes, texts_of, write_table
from labels import FALSE, NOISE, UNJUDGED, USEFUL, LabelError

_LABELS = (USEFUL, NOISE, FALSE, UNJUDGED)
_SHORT = {"u": USEFUL, "n": NOISE, "f": FALSE, "?": UNJUDGED}
_GAP = re.compile(r"[ \t,;|]+")
_LONGEST_LINE = 240
_LONGEST_DIFF = 40


def drawn(findings: Iterable[FirstFinding], number: int, seed: int, cap: int | None = None) -> list[FirstFinding]:
    """``number`` of the findings at random, or all where there are fewer; with ``cap``, at most so many of a repository.

    With a cap, the findings of each repository are cut down at random first: small repositories then weigh more than they
    report, and shares are those of the draw, not of all that was reported.
    """
    source = random.Random(seed)
    pool = sorted(findings, key=lambda each: each.place)
    if cap is not None:
        by_repo: dict[str, list[FirstFinding]] = defaultdict(list)
        for each in pool:
            by_repo[each.repo].append(each)
        pool = [kept for of_repo in by_repo.values() for kept in source.sample(of_repo, min(cap, len(of_repo)))]
    return source.sample(pool, min(number, len(pool)))


def dealt(findings: Sequence[FirstFinding], sheets: int) -> list[list[FirstFinding]]:
    """The findings on so many sheets, dealt one by one as they were drawn, each sheet in the order of the files."""
    return [sorted(findings[start::sheets], key=lambda each: each.place) for start in range(sheets)]


def for_second_reader(findings: Sequence[FirstFinding], number: int, seed: int) -> list[FirstFinding]:
    """``number`` of what was drawn, for a reader who does not see the first one's labels; the files are in another order."""
    source = random.Random(seed + 1)
    taken = source.sample(sorted(findings, key=lambda each: each.place), min(number, len(findings)))
    files: dict[tuple[str, str], list[FirstFinding]] = defaultdict(list)
    for each in sorted(taken, key=lambda each: each.place):
        files[each.repo, each.path].append(each)
    order = list(files)
    source.shuffle(order)
    return [each for file in order for each in files[file]]


# --- showing ---------------------------------------------------------------------------------------------------------


def write_sheet(
    out: Path,
    name: str,
    findings: Sequence[FirstFinding],
    repositories: Repositories,
    context: int,
    said: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Writes ``NAME.txt``, what there is to read, and ``NAME.tsv`` for the answers, left alone where somebody has answered.

    ``said`` has what was said about a finding before, for those who settle it.
    """
    fixes = read_fixes(out)
    head = (
        f"{name}: {len(findings)} findings, reported by torchlint {read_about(out)['torchlint']}. Answers go to {name}.tsv: "
        f"id, label ({', '.join(_LABELS)}) and a note, tab-separated.\n\n"
    )
    parts = []
    for number, each in enumerate(findings, 1):
        title = f"=== {each.id} {each.code} ({number} of {len(findings)}) {'=' * 60}"
        before = [f"said before: {said[each.id]}"] if each.id in said else []
        parts.append("\n".join([title, *before, *_shown(each, fixes, repositories, context)]))
    (out / f"{name}.txt").write_text(head + "\n".join(parts), encoding="utf-8", errors="replace")
    if not has_answers(out, name):
        write_table(out / f"{name}.tsv", ("id", "label", "note"), ((each.id, "", "") for each in findings))


def has_answers(out: Path, name: str) -> bool:
    """Whether somebody has put a label into the table of a sheet."""
    answers = out / f"{name}.tsv"
    return answers.exists() and any(len(line.split()) > 1 for line in answers.read_text(encoding="utf-8").splitlines()[1:])


def _shown(
    finding: FirstFinding, fixes: Mapping[str, Sequence[Mapping[str, Any]]], repositories: Repositories, context: int
) -> list[str]:
    path = repositories.home(finding.repo).resolve() / finding.path
    lines = dict(texts_of(path)).get(finding.cell, [""])
    cell = f" cell {finding.cell}" if finding.cell else ""
    year = repositories.year(finding.repo, finding.path) or "year unknown"
    parts = [
        f"{path}{cell}:{finding.line}:{finding.column}  ({year})",
        f"says: {finding.message}",
    ]
    if finding.id in fixes:
        parts += [f"fix, {finding.applicability}: {finding.fix}", *_diff(path, fixes[finding.id])]
    else:
        parts.append("no fix")
    parts.append("")
    first, last = max(1, finding.line - context), min(len(lines), finding.line + context)
    for row in range(first, last + 1):
        mark = ">>" if row == finding.line else "  "
        parts.append(f"{mark}{row:5} | {lines[row - 1][:_LONGEST_LINE]}")
    return [*parts, ""]


def _diff(path: Path, edits: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a fix takes away and puts in, without context."""
    by_cell: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for edit in edits:
        by_cell[str(edit.get("cell") or "")].append(edit)
    shown: list[str] = []
    for cell, lines in texts_of(path):
        if cell in by_cell:
            changed = edited(lines, by_cell[cell])
            compared = difflib.unified_diff(lines, changed, n=0, lineterm="")
            shown += [f"    {line[:_LONGEST_LINE]}" for line in compared if not line.startswith(("---", "+++"))]
    return [*shown[:_LONGEST_DIFF], "    …"] if len(shown) > _LONGEST_DIFF else shown


def edited(lines: Sequence[str], edits: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines with the edits made, as they stand in a report: rows and columns count from 1."""
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(location: Mapping[str, int]) -> int:
        return starts[location["row"] - 1] + location["column"] - 1

    # The last one first; of those at one place, what replaces before what is put in: it stands behind that.
    for edit in sorted(edits, key=lambda each: (offset(each["location"]), offset(each["end_location"])), reverse=True):
        text = text[: offset(edit["location"])] + edit["content"] + text[offset(edit["end_location"]) :]
    return re.split(r"\r\n|\r|\n", text)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_answers(path: Path, known: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The label and the note of each finding in a reader's file; rows without a label are not there.

    A row is an id, a label and perhaps a note, with tabs, commas or spaces between; a label may be its first letter, or `?`
    for unjudged.
    Raises `LabelError` for an id that nobody drew, a label that is none, and two labels for one finding.
    """
    ids = {*known}
    answers: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        name, _, rest = _parted(line)
        if not name or name.startswith("#") or name == "id":
            continue
        if name not in ids:
            raise LabelError(f"{where}: {name} was not drawn")
        label, _, note = _parted(rest)
        if not label:
            continue
        meant = _SHORT.get(label.lower(), label.lower())
        if meant not in _LABELS:
            raise LabelError(f"{where}: a label is one of {', '.join(_LABELS)}, not {label!r}")
        if name in answers and answers[name][0] != meant:
            raise LabelError(f"{where}: {name} has two labels")
        answers[name] = (meant, note)
    return answers


def _parted(text: str) -> tuple[str, str, str]:
    match = _GAP.search(text.strip())
    text = text.strip()
    return (text, "", "") if match is None else (text[: match.start()], match[0], text[match.end() :])
