"""Runs the rules' hazard programs: is the damage there, and is it gone after the rule's own autofix?

A hazard program is ``fixtures/<rule>/hazard.py``. It defines ``observe(device)``, which contains the rule's pattern and
returns what was seen, ``hazard(seen)``, whether the damage is there, and ``repaired(before, after)``, whether the fix
removed it; ``NEEDS = "cuda"`` where the hazard cannot exist on a CPU. The same text is linted, run, fixed and run again.

torch is imported when programs are run, and only then.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import platform
import shutil
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

from torchlint import __version__
from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import SelectionError, select_rules
from torchlint.text.source import Source

PROVEN = "proven"
NOT_FLAGGED = "not flagged"
NO_DAMAGE = "no damage"
NOT_REPAIRED = "not repaired"
FAILED = "failed"
SKIPPED = "skipped: needs {device}"

NO_TORCH = "torchlint prove: this command runs PyTorch, which is not installed here: pip install torch numpy"


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one rule's hazard program on one device.

    ``flagged`` counts the rule's findings in the program, ``before`` and ``after`` are what the program saw without and with
    the rule's fix (None where it did not come to that), ``fixed_text`` is the fixed program, and ``sha256`` identifies the
    program's text. ``error`` says in one line what went wrong, where something did.
    """

    code: str
    name: str
    device: str
    verdict: str
    flagged: int = 0
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    fixed_text: str = ""
    sha256: str = ""
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether the verdict is as it should be; a program that needs another device passes, too."""
        return self.verdict == PROVEN or self.verdict.startswith("skipped")


def prove(rule: Entry, device: str, fixtures: Path | None = None) -> Proof:
    """Lints, runs, fixes and runs again the hazard program of ``rule`` on ``device`` (``"cpu"`` or ``"cuda"``).

    ``fixtures`` is the folder that holds the rules' folders, torchlint's own by default. Whatever goes wrong becomes the
    proof's verdict and error; nothing is raised. Warnings that the program causes are not shown.
    """
    path = hazard_path(rule, fixtures or fixtures_folder())
    proof = Proof(rule.code, rule.name, device, FAILED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for step in _steps(proof, rule, path):
                proof = step
    except Exception as error:
        return replace(proof, verdict=FAILED, error=_one_line(error, path))
    return proof


def _steps(proof: Proof, rule: Entry, path: Path) -> Iterator[Proof]:
    """``proof`` after each step, ever fuller; the last one carries the verdict."""
    text = path.read_text(encoding="utf-8")
    yield (proof := replace(proof, sha256=hashlib.sha256(text.encode()).hexdigest()))

    program = _load(text, path)
    needed = getattr(program, "NEEDS", proof.device)
    if needed != proof.device:
        yield replace(proof, verdict=SKIPPED.format(device=needed))
        return

    source = Source(text, str(path))
    yield (proof := replace(proof, flagged=len(lint(source, [rule]))))
    if not proof.flagged:
        yield replace(proof, verdict=NOT_FLAGGED)
        return

    before = program.observe(proof.device)
    yield (proof := replace(proof, before=before))
    if not program.hazard(before):
        yield replace(proof, verdict=NO_DAMAGE)
        return

    result = fix(source, [rule], Applicability.UNSAFE)
    yield (proof := replace(proof, fixed_text=result.text))
    if result.text == text or result.remaining:
        yield replace(proof, verdict=NOT_REPAIRED, error=f"the fix leaves {len(result.remaining)} of {proof.flagged} findings")
        return

    after = _load(result.text, path).observe(proof.device)
    yield (proof := replace(proof, after=after))
    repaired = not program.hazard(after) and program.repaired(before, after)
    yield replace(proof, verdict=PROVEN if repaired else NOT_REPAIRED)


def fixtures_folder() -> Path:
    """The folder with the rules' fixtures: inside the installed package, or beside it in a checkout."""
    packaged = Path(__file__).parents[1] / "_fixtures"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "fixtures"


def hazard_path(rule: Entry, fixtures: Path) -> Path:
    """Where the hazard program of ``rule`` lies below ``fixtures``."""
    return fixtures / f"{rule.code}_{rule.name}".lower().replace("-", "_") / "hazard.py"


def _load(text: str, path: Path) -> ModuleType:
    program = ModuleType("hazard")
    program.__file__ = str(path)
    exec(compile(text, str(path), "exec"), program.__dict__)
    return program


def _one_line(error: Exception, path: Path) -> str:
    """What ``error`` says, and the line of the program at ``path`` that it came from, if it did."""
    message = str(error).strip().partition("\n")[0]
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    place = f"{path.name}:{lines[-1]}: " if lines else ""
    return f"{place}{type(error).__name__}: {message}"


# --- the command -----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """``torchlint prove`` with these arguments: prints the table and returns the exit code.

    0: all proven; 1: at least one is not; 2: wrong use, or torch or the device is missing.
    """
    options = argument_parser().parse_args(arguments)
    try:
        rules = provable(select_rules(select=options.codes or ["ALL"]))
    except SelectionError as error:
        return _refuse(f"torchlint prove: {error}")
    if not fixtures_folder().is_dir():
        return _refuse(f"torchlint prove: the hazard programs are missing: there is no folder {fixtures_folder()}")
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return _refuse(NO_TORCH)
    cuda = torch.cuda.is_available()
    without_cuda = f"torch {torch.__version__} sees no CUDA device here"
    if options.device == "cuda" and not cuda:
        return _refuse(f"torchlint prove: not run on CUDA: {without_cuda}")

    devices = {"cpu": ["cpu"], "cuda": ["cuda"], "auto": ["cpu", "cuda"] if cuda else ["cpu"]}[options.device]
    proofs = [prove(rule, device) for device in devices for rule in rules]
    print(table(proofs, shutil.get_terminal_size((120, 24)).columns))
    if options.device == "auto" and not cuda:
        print(f"Not run on CUDA: {without_cuda}.")
    if options.json:
        try:
            options.json.write_text(record(proofs, devices) + "\n", encoding="utf-8")
        except OSError as error:
            return _refuse(f"torchlint prove: cannot write {options.json}: {error.strerror}")
    return 0 if all(proof.passed for proof in proofs) else 1


def provable(rules: Sequence[Entry]) -> list[Entry]:
    """Those of ``rules`` that have a hazard program; raises `SelectionError` where none does."""
    found = [rule for rule in rules if rule.proven]
    if not found:
        raise SelectionError(f"{', '.join(rule.code for rule in rules)} is about the text alone: there is nothing to run")
    return found


def argument_parser() -> argparse.ArgumentParser:
    """The parser of the arguments of ``torchlint prove``."""
    parser = argparse.ArgumentParser(
        prog="torchlint prove",
        description="Runs each rule's hazard program, applies the rule's fix to it, and runs it again.",
    )
    parser.add_argument("codes", nargs="*", metavar="CODE", help="rules to prove, by code or prefix (all rules by default)")
    parser.add_argument(
        "--device",
        choices=["auto", "cpu", "cuda"],
        default="auto",
        help="where to run; auto is the CPU, and CUDA where there is one",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was seen, and on what, to FILE")
    return parser


def _refuse(message: str) -> int:
    print(message, file=sys.stderr)
    return 2


def record(proofs: Sequence[Proof], devices: Sequence[str]) -> str:
    """The proofs as JSON, with what they were run on: the format of ``docs/evidence/``."""
    torch = importlib.import_module("torch")
    names = {"cpu": platform.machine(), "cuda": torch.cuda.get_device_name() if "cuda" in devices else None}
    content = {
        "torchlint": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "devices": {device: names[device] if device in devices else "not run" for device in ("cpu", "cuda")},
        "proofs": [{key: value for key, value in asdict(proof).items() if key != "fixed_text"} for proof in proofs],
    }
    return json.dumps(content, indent=2, default=str)


# --- the table -------------------------------------------------------------------------------------------------------

_HEADINGS = ("rule", "device", "before", "after", "verdict")
_GAP = "  "


def table(proofs: Sequence[Proof], width: int) -> str:
    """The proofs as a table that is about ``width`` characters wide, and what went wrong below it."""
    rows = [_HEADINGS, *((f"{p.code} {p.name}", p.device, _seen(p.before), _seen(p.after), p.verdict) for p in proofs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    room = width - widths[0] - widths[1] - widths[4] - len(_GAP) * 4
    widths[2] = min(widths[2], max(room // 2, 24))
    widths[3] = min(widths[3], max(room - widths[2], 24))
    lines = [line for row in rows for line in _row(row, widths)]
    lines.insert(1, _GAP.join("-" * column for column in widths))
    errors = [f"{proof.code} on {proof.device}: {proof.error}" for proof in proofs if proof.error]
    return "\n".join(lines + [""] * bool(errors) + errors)


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, width) for cell, width in zip(cells, widths)]
    for line in zip_longest(*wrapped, fillvalue=""):
        yield _GAP.join(part.ljust(width) for part, width in zip(line, widths)).rstrip()


def _seen(seen: Mapping[str, Any] | None) -> str:
    if seen is None:
        return "-"
    return ", ".join(f"{key}={_value(value)}" for key, value in seen.items())


def _value(value: object) -> str:
    """A short form: numbers without trailing zeros, of a message its first clause."""
    match value:
        case float():
            return f"{value:g}"
        case list() | tuple():
            return f"[{', '.join(_value(item) for item in value)}]"
        case str():
            return textwrap.shorten(value.partition(": ")[0].partition(". ")[0], 100, placeholder="…")
        case _:
            return str(value)
