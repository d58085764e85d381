"""A rule's fixture folder, and what it has to show.

``bad.py`` is what the rule finds, ``fixed.py`` what all its fixes make of that, ``good.py`` what it leaves alone, and
``hazard.py`` the program that shows the damage (see `torchlint.proof.hazards`). In ``bad.py`` a line that the rule must report
ends in a comment with its code: ``# TPL001``, with `` -> 14`` where the column just behind the finding matters, and
``(unsafe)`` or ``(no fix)`` where the fix is not a safe one; ``# TPL001 strict`` is a finding that is not shown where the rule
runs by default only. Several findings on a line are divided by commas;
``# next line: TPL001`` speaks for a line that can hold no comment.
"""

from __future__ import annotations

import difflib
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from torchlint.diagnostic import Applicability, Diagnostic
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.proof.hazards import prove
from torchlint.rules.catalogue import Entry
from torchlint.rules.documentation import sections
from torchlint.text.source import Source, SourceError

SECTIONS = ("What it does", "Why is this bad", "Example", "Use instead", "Fix safety", "References")
"""Those that a rule's page has, in this order."""
FILES = ("bad.py", "fixed.py", "good.py")

_MARKER = re.compile(r"(?<![A-Z])(?P<code>[A-Z]+\d+)(?P<strict> strict)?(?: -> (?P<end>\d+))?(?: \((?P<fix>unsafe|no fix)\))?")
COMMENT = re.compile(rf"# (?P<next>next line: )?(?P<markers>{_MARKER.pattern.replace('?P<', '?P<_')}(?:, .*)?)$")
_CODE = re.compile(r"^```python\n((?:(?!```).*\n)*)```$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding that a marker asks for."""

    row: int
    end_column: int | None
    applicability: Applicability | None
    is_strict: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """One thing that a rule was asked to show: what, and how it failed, in lines; none if it did not."""

    what: str
    problems: tuple[str, ...] = ()
    skipped: str = ""
    """Why it was not asked, where it was not."""


def folder_of(rule: Entry) -> str:
    """The name of a rule's folder."""
    return f"{rule.code}_{rule.name}".lower().replace("-", "_")


def expectations(text: str, code: str) -> list[Expected]:
    """The findings of ``code`` that the markers in a text ask for."""
    found = []
    for row, line in enumerate(text.split("\n"), 1):
        comment = COMMENT.search(line)
        if comment is None:
            continue
        for marker in _MARKER.finditer(comment["markers"]):
            if marker["code"] == code:
                applicability = {None: Applicability.SAFE, "unsafe": Applicability.UNSAFE, "no fix": None}[marker["fix"]]
                end = int(marker["end"]) if marker["end"] else None
                row_meant = row + 1 if comment["next"] else row
                found.append(Expected(row_meant, end, applicability, marker["strict"] is not None))
    return found


class RuleTest:
    """Asks a rule for all that its folder says."""

    def __init__(self, rule: Entry, folder: Path) -> None:
        self._rule = rule
        self._folder = folder
        self._texts = {name: (folder / name).read_bytes().decode("utf-8") for name in FILES}

    def outcomes(self, device: str | None) -> Iterator[Outcome]:
        """One after the other; ``device`` is where the hazard is run, ``None`` if torch is missing."""
        checks: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
            ("its page has all sections, and its examples are what it says", self._page),
            ("it reports the marked places of bad.py", self._reports),
            ("it finds the same when it is shown the whole file", self._without_triggers),
            ("it finds the same with other newlines", self._newlines),
            ("it leaves good.py alone", self._silence),
            ("its fixes make fixed.py of bad.py", self._fixes),
        )
        for what, check in checks:
            try:
                yield Outcome(what, tuple(check()))
            except SourceError as error:
                yield Outcome(what, (str(error),))
            except Exception as error:
                yield Outcome(what, tuple(self._raised(error)))
        yield self._proof(device)

    def _found(self, name: str, text: str | None = None, *, triggers: bool = True) -> list[Diagnostic]:
        source = Source(self._texts[name] if text is None else text, str(self._folder / name))
        return lint(source, [self._rule], triggers=triggers)

    def _page(self) -> Iterator[str]:
        said = sections(self._rule)
        if missing := [title for title in SECTIONS if title not in said]:
            yield f"the docstring lacks {', '.join(missing)}"
            return
        for title, wanted in (("Example", True), ("Use instead", False)):
            if bool(self._found("bad.py", "".join(_CODE.findall(said[title])))) is not wanted:
                yield f'the code under "{title}" is {"not " if wanted else ""}reported'

    def _reports(self) -> Iterator[str]:
        wanted = expectations(self._texts["bad.py"], self._rule.code)
        if not wanted:
            yield "no line of bad.py is marked"
        found = self._found("bad.py")
        yield from _difference([_marked(each) for each in wanted], [_reported(each) for each in found])
        for each in wanted:
            ends = [diagnostic.end_location.column for diagnostic in found if diagnostic.location.row == each.row]
            if each.end_column is not None and each.end_column not in ends:
                yield f"bad.py:{each.row}: the finding ends in front of column {ends}, not of {each.end_column}"

    def _without_triggers(self) -> Iterator[str]:
        for name in ("bad.py", "good.py"):
            everywhere = [_reported(each) for each in self._found(name, triggers=False)]
            yield from (f"{name}: {line}" for line in _difference(everywhere, [_reported(each) for each in self._found(name)]))

    def _newlines(self) -> Iterator[str]:
        for newline in ("\r\n", "\r"):
            text = self._texts["bad.py"].replace("\n", newline)
            found = [_reported(each) for each in self._found("bad.py", text)]
            yield from _difference([_reported(each) for each in self._found("bad.py")], found)

    def _silence(self) -> Iterator[str]:
        for found in self._found("good.py"):
            yield f"good.py:{found.location.row}:{found.location.column}: {found.message}"

    def _fixes(self) -> Iterator[str]:
        result = fix(Source(self._texts["bad.py"], str(self._folder / "bad.py")), [self._rule], Applicability.UNSAFE)
        wanted, made = self._texts["fixed.py"].splitlines(), result.text.splitlines()
        yield from difflib.unified_diff(wanted, made, "fixed.py", "bad.py, fixed", lineterm="")
        again = fix(Source(result.text, "fixed.py"), [self._rule], Applicability.UNSAFE)
        if again.text != result.text:
            yield "a second run changes the fixed text again"
        if result.broken:
            yield "a fix makes what is no Python"

    def _raised(self, error: Exception) -> Iterator[str]:
        """What the rule raised, and the lines that led to it, from the rule on."""
        yield f"{type(error).__name__}: {error}"
        frames = traceback.extract_tb(error.__traceback__)
        own = getattr(sys.modules[self._rule.load().__module__], "__file__", None)
        first = next((place for place, frame in enumerate(frames) if frame.filename == own), -1)
        yield from (f"{Path(frame.filename).name}:{frame.lineno}: {frame.line}" for frame in frames[first:])

    def _proof(self, device: str | None) -> Outcome:
        what = "its hazard shows, and is gone after its fix"
        if not self._rule.proven or not (self._folder / "hazard.py").exists():
            return Outcome(what, () if not self._rule.proven else ("there is no hazard.py",))
        if device is None:
            return Outcome(what, skipped="PyTorch is not installed")
        proof = prove(self._rule, device, self._folder.parent)
        if proof.verdict.startswith("skipped"):
            return Outcome(what, skipped=proof.verdict)
        return Outcome(f"{what} ({device})", () if proof.passed else (f"{proof.verdict} {proof.error}".strip(),))


def _marked(each: Expected) -> str:
    return f"line {each.row}: {_as_said(each.applicability, each.is_strict)}"


def _reported(each: Diagnostic) -> str:
    return f"line {each.location.row}: {_as_said(each.fix.applicability if each.fix is not None else None, each.is_strict)}"


def _as_said(applicability: Applicability | None, is_strict: bool) -> str:
    fix = "no fix" if applicability is None else f"{applicability.value} fix"
    return f"strict, {fix}" if is_strict else fix


def _difference(wanted: list[str], found: list[str]) -> Iterator[str]:
    """What is only in one of two lists, with repetition."""
    left = list(found)
    for each in wanted:
        if each in left:
            left.remove(each)
        else:
            yield f"{each}: wanted, not found"
    yield from (f"{each}: found, not wanted" for each in left)
