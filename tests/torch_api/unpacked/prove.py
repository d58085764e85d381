"""Writes proven.tsv: what came of each row of torchvision and torchaudio, old beside new.

``python tests/torch_api/unpacked/prove.py WHEELS`` takes a folder with the wheels of torchvision 0.28, torchvision 0.11 and
torchaudio 2.11 (``pip download --no-deps``; that of 0.11 may be of any platform). Needs Pillow.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torchlint

sys.path.insert(0, str(Path(__file__).parent))

from library_programs import OLD_RELEASE, ROWS, programs, reason

RECORD = Path(__file__).with_name("proven.tsv")
COLUMNS = ("row", "ran on", "programs", "warned before", "warned after", "outcome")
CODES = ("TPL107", "TPL108", "TPL109")
NEWEST = {"torchvision": "0.28.0", "torchaudio": "2.11.0"}
AGREE = "agree"


@dataclass(frozen=True)
class Pair:
    """A program of a row, and the same one fixed."""

    row: str
    old: str
    new: str


def pairs(names: Iterable[str]) -> list[Pair]:
    """The programs of rows that are run; raises where the fix leaves one as it is, or something in it."""
    found = []
    for name in names:
        for old in () if reason(name) else programs(name):
            fixed = torchlint.fix(old, unsafe=True, select=CODES)
            if fixed.text == old or fixed.remaining:
                raise ValueError(f"{name}: not mended\n{old}\n{fixed.remaining}")
            found.append(Pair(name, old, fixed.text))
    return found


def ran(wheel: Path, texts: Sequence[str]) -> list[dict[str, Any]]:
    """What came of programs on the release of a wheel."""
    command = [sys.executable, str(Path(__file__).with_name("without_compiled.py")), str(wheel)]
    run = subprocess.run(command, input=json.dumps(list(texts)), capture_output=True, encoding="utf-8", check=True)
    version: dict[str, Any]
    version, *found = json.loads(run.stdout)
    assert version["version"] == wheel.name.split("-")[1]
    return list(found)


def _wheel(folder: Path, library: str, version: str) -> Path:
    return next(folder.glob(f"{library}-{version}-*.whl"))


def proven(folder: Path, names: Collection[str] = ()) -> list[dict[str, str]]:
    """A line for each row, or for those of ``names``, in the columns of the record."""
    rows = {name: row for name, row in ROWS.items() if not names or name in names}
    every = pairs(rows)
    before: dict[Pair, dict[str, Any]] = {}
    after: dict[Pair, dict[str, Any]] = {}
    for library, version in NEWEST.items():
        own = [each for each in every if each.row.startswith(f"{library}.")]
        gone = [each for each in own if ROWS[each.row].removed]
        there = [each for each in own if not ROWS[each.row].removed]
        newest = _wheel(folder, library, version)
        results = ran(newest, [text for each in there for text in (each.old, each.new)] + [each.new for each in gone])
        before |= dict(zip(there, results[: 2 * len(there) : 2]))
        after |= dict(zip(there, results[1 : 2 * len(there) : 2])) | dict(zip(gone, results[2 * len(there) :]))
        if gone:
            before |= dict(zip(gone, ran(_wheel(folder, library, OLD_RELEASE), [each.old for each in gone])))
    lines = []
    for name, row in rows.items():
        own = [each for each in every if each.row == name]
        library = row.library
        on = f"{library} {OLD_RELEASE} and {NEWEST[library]}" if row.removed else f"{library} {NEWEST[library]}"
        cells = (name, on, str(len(own)), *_warned(own, before, after), _outcome(own, before, after))
        lines.append(
            dict(zip(COLUMNS, cells)) if own else dict(zip(COLUMNS, (name, "", "0", "", "", f"not run: {reason(name)}")))
        )
    return lines


def _warned(own: Sequence[Pair], before: dict[Pair, dict[str, Any]], after: dict[Pair, dict[str, Any]]) -> tuple[str, str]:
    """How many of the programs warned before and after."""
    old, new = (sum(any(map(_is_meant, found[each]["warned"])) for each in own) for found in (before, after))
    return str(old), str(new)


def _is_meant(warning: str) -> bool:
    """Whether a warning is of a deprecation; googlenet and inception_v3 warn of something else, before and after."""
    return bool(re.search("deprecate|renamed", warning))


def _outcome(own: Sequence[Pair], before: dict[Pair, dict[str, Any]], after: dict[Pair, dict[str, Any]]) -> str:
    for each in own:
        old, new = before[each], after[each]
        if old["raised"] or new["raised"]:
            return f"raises: {old['raised']} | {new['raised']}"
        if old["made"] != new["made"]:
            return f"differs: {old['made']} | {new['made']}"
        if not any(map(_is_meant, old["warned"])):
            return f"does not warn: {old['warned']}"
        if not {*new["warned"]} <= {*old["warned"]} or any(map(_is_meant, new["warned"])):
            return f"still warns: {new['warned']}"
    return AGREE


def written(lines: Sequence[dict[str, str]]) -> str:
    """The text of the record."""
    import torch

    head = f"# {datetime.date.today().isoformat()}, torch {torch.__version__}"
    return "\n".join([head, "\t".join(COLUMNS), *("\t".join(each.values()) for each in lines), ""])


def main() -> int:
    """Runs all rows, or those that are named, and writes the record of them; fails where one does not agree."""
    lines = proven(Path(sys.argv[1]), sys.argv[2:])
    new = {each["row"]: each for each in lines}
    known = recorded() if len(new) < len(ROWS) else {}
    RECORD.write_text(written([{**known, **new}[name] for name in ROWS]), encoding="utf-8")
    bad = [each for each in lines if each["outcome"] != AGREE and not each["outcome"].startswith("not run")]
    for each in bad:
        print(each["row"], each["outcome"], sep="\t")
    return 1 if bad else 0


def recorded() -> dict[str, dict[str, str]]:
    """The lines of the record, by their rows."""
    _, head, *lines = RECORD.read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    return {row["row"]: row for row in rows}


if __name__ == "__main__":
    sys.exit(main())
