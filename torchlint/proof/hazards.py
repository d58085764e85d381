"""Runs the rules' hazard programs: is the damage there, and is it gone after the rule's own autofix?

A hazard program is ``fixtures/<rule>/hazard.py``. It defines ``observe(device)``, which contains the rule's pattern and
returns what was seen, ``hazard(seen)``, whether the damage is there, and ``repaired(before, after)``, whether the fix
removed it; ``NEEDS = "cuda"`` where the hazard cannot exist on a CPU, ``NEEDS = "cpu"`` where it is one of several processes
that the program starts itself. The same text is linted, run, fixed and run again.
Where the hazard is that no Python parses the text, what is seen is ``{"raised": "SyntaxError"}``.

torch is imported when programs are run, and only then.
"""

from __future__ import annotations

import hashlib
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source, parses

PROVEN = "proven"
NOT_FLAGGED = "not flagged"
NO_DAMAGE = "no damage"
NOT_REPAIRED = "not repaired"
FAILED = "failed"
SKIPPED = "skipped: needs {device}"


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

    source = Source(text, str(path))
    program = _load(text, path) if parses(text, newer=False) else None
    needed = getattr(program, "NEEDS", proof.device)
    if needed != proof.device:
        yield replace(proof, verdict=SKIPPED.format(device=needed))
        return

    yield (proof := replace(proof, flagged=len(lint(source, [rule]))))
    if not proof.flagged:
        _load(text, path)  # says what is wrong with it, where it is no Python for another reason
        yield replace(proof, verdict=NOT_FLAGGED)
        return

    before = {"raised": "SyntaxError"} if program is None else program.observe(proof.device)
    yield (proof := replace(proof, before=before))
    if program is not None and not program.hazard(before):
        yield replace(proof, verdict=NO_DAMAGE)
        return

    result = fix(source, [rule], Applicability.UNSAFE)
    yield (proof := replace(proof, fixed_text=result.text))
    if result.text == text or result.remaining:
        yield replace(proof, verdict=NOT_REPAIRED, error=f"the fix leaves {len(result.remaining)} of {proof.flagged} findings")
        return

    fixed = _load(result.text, path)
    if program is None and not fixed.hazard(before):
        yield replace(proof, verdict=NO_DAMAGE)
        return
    after = fixed.observe(proof.device)
    yield (proof := replace(proof, after=after))
    repaired = not fixed.hazard(after) and fixed.repaired(before, after)
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
