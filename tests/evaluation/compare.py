"""Shows that two commits report and fix the same: records what each makes of a body of code, and compares the records.

    python tests/evaluation/compare.py record FOLDER... --checkout PATH --out FILE
    python tests/evaluation/compare.py compare OLD NEW

Of a checkout only `torchlint.lint` and `torchlint.fix` are used, so that any two commits can be compared. What a fix does is
recorded as a hash of the text that it makes, so that the same change in other edits is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

NOTEBOOK = ".ipynb"

_SECONDS = 60
"""How much processor time a file may take; it counts only what the file takes itself, whatever else the machine does."""
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LONGEST = 300
"""How much is shown of what a fix puts in."""


def main(arguments: Sequence[str]) -> int:
    """Records or compares; the exit code is 1 where there are differences, 2 where nothing can be recorded or compared."""
    options = _parser().parse_args(arguments)
    if options.command == "work":
        work(options.package, options.selection)
        return 0
    try:
        if options.command == "record":
            record(_files(options.folders, options.files), options)
            return 0
        comparison = compare(Recording.read(options.old), Recording.read(options.new), options.code)
    except CompareError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(shown(comparison, options.limit)))
    return 1 if comparison.differences else 0


class CompareError(Exception):
    """A checkout that does not run, or recordings that cannot be compared; the message says why."""


# --- what is recorded ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fix; ``result`` is the hash of the text with this fix alone made, ``edits`` are there to be shown."""

    message: str
    applicability: str
    result: str
    edits: tuple[str, ...] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding; in a notebook, its place is one in a cell."""

    code: str
    cell: int | None
    row: int
    column: int
    end_row: int
    end_column: int
    message: str
    fix: Fixed | None

    @classmethod
    def of(cls, diagnostic: Any, text: Text) -> Found:
        """What is recorded of a finding in ``text``."""
        start, end, fix = diagnostic.location, diagnostic.end_location, diagnostic.fix
        cell = getattr(diagnostic, "cell", None)
        fixed = None
        if fix is not None:
            applicability = str(getattr(fix.applicability, "value", fix.applicability))
            fixed = Fixed(fix.message, applicability, text.edited(fix.edits), tuple(map(_as_shown, fix.edits)))
        return cls(diagnostic.code, cell, start.row, start.column, end.row, end.column, diagnostic.message, fixed)

    @classmethod
    def read(cls, content: dict[str, Any]) -> Found:
        """A finding as it stands in a recording."""
        fix = content.pop("fix")
        return cls(**content, fix=fix and Fixed(**{**fix, "edits": tuple(fix["edits"])}))

    @property
    def start(self) -> tuple[str, int, int, int]:
        """The rule, and where the finding starts."""
        return self.code, self.cell or 0, self.row, self.column

    @property
    def place(self) -> str:
        """Where the finding is in its file."""
        return f"{'' if self.cell is None else f'cell {self.cell}:'}{self.row}:{self.column}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file with one selection of rules.

    ``safe`` and ``unsafe`` are hashes of what fixing all of it makes of the text, or what went wrong; None where it has no fix.
    """

    findings: tuple[Found, ...] = ()
    safe: str | None = None
    unsafe: str | None = None
    error: str | None = None

    @property
    def tells(self) -> bool:
        """Whether there is something to tell."""
        return bool(self.findings) or self.error is not None

    @classmethod
    def read(cls, content: dict[str, Any]) -> Outcome:
        """An outcome as it stands in a recording."""
        found = tuple(map(Found.read, content["findings"]))
        return cls(found, content["safe"], content["unsafe"], content["error"])


@dataclass(frozen=True, slots=True)
class Recording:
    """What one checkout made of many files.

    ``selections`` are the rules that were run together; ``files`` has the hash of each file's text, for those of which there is
    nothing to tell as well, ``outcomes`` what there is to tell, by file and selection.
    """

    selections: tuple[str, ...]
    files: Mapping[str, str]
    outcomes: Mapping[tuple[str, str], Outcome]

    @classmethod
    def read(cls, path: Path) -> Recording:
        """The recording in a file; raises `CompareError`."""
        try:
            with path.open(encoding="utf-8") as lines:
                head = json.loads(next(lines, "{}"))
                read = map(json.loads, lines)
                outcomes = {(each["path"], each["selection"]): Outcome.read(each) for each in read}
            return cls(tuple(head["selections"]), head["files"], outcomes)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CompareError(f"{path} is no recording: {error!r}") from None

    def write(self, path: Path, checkout: Path) -> None:
        """Writes the recording, all of it or nothing: a line about it, and one for each file that has something to tell."""
        partial = path.with_name(path.name + ".partial")
        with partial.open("w", encoding="utf-8") as file:
            head = {"checkout": str(checkout), "selections": self.selections, "files": dict(sorted(self.files.items()))}
            file.write(json.dumps(head) + "\n")
            for (name, selection), outcome in sorted(self.outcomes.items(), key=lambda item: item[0]):
                file.write(json.dumps({"path": name, "selection": selection, **asdict(outcome)}) + "\n")
        partial.replace(path)


class Text:
    """The text of a file, or of the code cells of a notebook, in which edits are made."""

    def __init__(self, text: str, *, notebook: bool) -> None:
        self._text = text
        self._notebook = notebook

    def edited(self, edits: Iterable[Any]) -> str:
        """The hash of what ``edits`` make of the text."""
        by_cell: dict[int | None, list[Any]] = defaultdict(list)
        for edit in edits:
            by_cell[getattr(edit, "cell", None)].append(edit)
        changed = {cell: self._part(cell).with_edits(of_cell) for cell, of_cell in by_cell.items()}
        if not self._notebook:
            return short_hash(changed.get(None, self._text))
        return short_hash(json.dumps(sorted((cell or 0, text) for cell, text in changed.items())))

    def _part(self, cell: int | None) -> _Lines:
        return self._whole if cell is None else self._cells[cell]

    @cached_property
    def _whole(self) -> _Lines:
        return _Lines(self._text)

    @cached_property
    def _cells(self) -> dict[int, _Lines]:
        cells = json.loads(self._text)["cells"]
        return {number: _Lines("".join(cell["source"])) for number, cell in enumerate(cells, 1) if "source" in cell}


class _Lines:
    """A text with the offsets at which its lines start."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def with_edits(self, edits: Iterable[Any]) -> str:
        """The text with ``edits`` made."""
        changes = {(self._offset(edit.location), self._offset(edit.end_location), edit.content) for edit in edits}
        parts: list[str] = []
        position = 0
        for start, end, content in sorted(changes):
            parts += [self._text[position:start], content]
            position = end
        return "".join([*parts, self._text[position:]])

    def _offset(self, location: Any) -> int:
        row, column = int(location.row), int(location.column)
        if row > len(self._starts):
            return len(self._text)  # a cell without a newline at its end is linted with one
        return self._starts[row - 1] + column - 1


def short_hash(text: str) -> str:
    """Enough of the SHA-256 of a text to tell it from others."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _as_shown(edit: Any) -> str:
    cell = getattr(edit, "cell", None)
    start, end = edit.location, edit.end_location
    content = edit.content if len(edit.content) <= _LONGEST else edit.content[:_LONGEST] + "…"
    return f"{'' if cell is None else f'cell {cell}:'}{start.row}:{start.column}-{end.row}:{end.column} {content!r}"


def read_text(path: Path) -> str | None:
    """The text of a file with its newlines as they are; None where it cannot be read or decoded."""
    try:
        data = path.read_bytes()
        encoding = "utf-8-sig" if path.suffix == NOTEBOOK else tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data.decode(encoding)
    except (OSError, SyntaxError, LookupError, UnicodeError):
        return None


# --- recording -------------------------------------------------------------------------------------------------------


def record(files: Sequence[str], options: argparse.Namespace) -> None:
    """Records what the torchlint of a checkout makes of ``files``; raises `CompareError`."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as copy:  # the checkout may be worked on while this runs
        package = Path(copy) / "torchlint"
        shutil.copytree(options.checkout / "torchlint", package)
        selections = _selections(package, options.select, alone=options.alone)
        hashes: dict[str, str] = {}
        outcomes: dict[tuple[str, str], Outcome] = {}
        with _Workers(package, selections, options.jobs) as workers:
            for number, (path, reply) in enumerate(zip(files, workers.replies(files)), 1):
                if reply is not None:
                    hashes[path] = reply.text
                    outcomes |= {(path, each): outcome for each, outcome in reply.outcomes.items() if outcome.tells}
                if number % 500 == 0:
                    print(f"{number} of {len(files)} files, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    recording = Recording(tuple(selections), hashes, outcomes)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    recording.write(options.out, options.checkout)
    found = [finding for outcome in outcomes.values() for finding in outcome.findings]
    failed = sum(outcome.error is not None for outcome in outcomes.values())
    print(
        f"{options.out}: {len(hashes)} files ({len(files) - len(hashes)} not readable), {len(found)} findings, "
        f"{sum(finding.fix is not None for finding in found)} fixes, {failed} errors, {time.monotonic() - started:.0f} s",
        file=sys.stderr,
    )


def _files(folders: Iterable[Path], lists: Iterable[Path]) -> list[str]:
    """The Python files and notebooks below ``folders`` and those that ``lists`` name, one in each line."""
    paths = (path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", NOTEBOOK))
    found = {str(path) for path in paths if path.is_file()}
    for path in lists:
        found.update(line for line in path.read_text(encoding="utf-8").splitlines() if line)
    if not found:
        raise CompareError("there are no files to record")
    return sorted(found)


class Reply(NamedTuple):
    """What a worker says of a file: the hash of its text, and the outcome with each selection."""

    text: str
    outcomes: dict[str, Outcome]


class _Workers:
    """Processes that run the torchlint of a checkout; one that dies on a file is replaced."""

    def __init__(self, package: Path, selections: Sequence[str], jobs: int) -> None:
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._all = [_Worker(package, selections) for _ in range(jobs)]
        for worker in self._all:
            self._idle.put(worker)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._all:
            worker.stop()

    def replies(self, paths: Sequence[str]) -> Iterator[Reply | None]:
        """What is said of each file; None of one that cannot be read."""
        with ThreadPoolExecutor(len(self._all)) as threads:
            yield from threads.map(self._reply, paths)

    def _reply(self, path: str) -> Reply | None:
        worker = self._idle.get()
        try:
            return worker.reply(path)
        finally:
            self._idle.put(worker)


class _Worker:
    """A process that is asked about one file after the other."""

    def __init__(self, package: Path, selections: Sequence[str]) -> None:
        self._package = package
        self._selections = selections
        self._process: subprocess.Popen[str] | None = None

    def reply(self, path: str) -> Reply | None:
        if self._process is None:
            self._process = _started(self._package, self._selections)
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(path) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            content = json.loads(answer)
            return content and Reply(content["text"], {each: Outcome.read(of) for each, of in content["outcomes"].items()})
        error = _death(self._process.wait())
        self._process = None
        return Reply(short_hash(read_text(Path(path)) or ""), {each: Outcome(error=error) for each in self._selections})

    def stop(self) -> None:
        if self._process is not None:
            self._process.communicate()


def _death(code: int) -> str:
    if sys.platform != "win32" and code == -signal.SIGPROF:
        return f"takes more than {_SECONDS} s"
    return f"the process died: {code}"


def _started(package: Path, selections: Sequence[str]) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).resolve()), "work", str(package), *selections]
    environment = {"PYTHONHASHSEED": "0", **os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


def _selections(package: Path, select: str, *, alone: bool) -> list[str]:
    """The rules that are to be run together: all of ``select``, or each alone; raises `CompareError` where nothing runs."""
    if not alone:
        with _started(package, ["", select]) as process:
            process.communicate()
        chosen = [select]
    else:
        with _started(package, ["?", select]) as process:
            chosen = process.communicate()[0].split()
    if process.returncode:
        raise CompareError("the checkout's torchlint does not run")
    return chosen


# --- in the worker ---------------------------------------------------------------------------------------------------


def work(package: Path, selections: Sequence[str]) -> None:
    """Answers, for each file on the standard input; with a selection of ``?`` says what codes there are, with "" tries it."""
    sys.path.insert(0, str(package.parent))
    import torchlint

    assert Path(str(torchlint.__file__)).parent == package.resolve(), f"not this torchlint: {torchlint.__file__}"
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing else is to get in between
    if selections[0] in ("?", ""):
        wanted = selections[1].split(",")
        _ = torchlint.lint("import torch\nx.data\n", select=wanted)
        if selections[0]:
            print(*_codes(torchlint.lint, wanted), file=answers, flush=True)
        return
    for line in sys.stdin:
        name = json.loads(line)
        text = read_text(Path(name))
        content = None
        if text is not None:
            each = {selection: asdict(_outcome(torchlint, text, name, selection)) for selection in selections}
            content = {"text": short_hash(text), "outcomes": each}
        print(json.dumps(content), file=answers, flush=True)


def _codes(lint: Callable[..., object], wanted: Sequence[str]) -> Iterator[str]:
    """The codes of the rules that ``wanted`` selects."""
    for number in range(1000):
        code = f"TPL{number:03}"
        if "ALL" in wanted or code.startswith(tuple(wanted)):
            try:
                lint("", select=[code])
            except Exception:  # what says so has other names in other commits
                continue
            yield code


def _outcome(torchlint: Any, text: str, name: str, selection: str) -> Outcome:
    """What torchlint makes of a text; a text that takes too long ends the process."""
    _limit(_SECONDS)
    select = selection.split(",")
    try:
        found = torchlint.lint(text, filename=name, select=select)
        notebook = name.endswith(NOTEBOOK)
        edited = Text(text, notebook=notebook)
        findings = tuple(Found.of(each, edited) for each in found)
        if all(finding.fix is None for finding in findings):
            return Outcome(findings)
        safe, unsafe = (_fixed(torchlint, text, name, select, unsafe=unsafe) for unsafe in (False, True))
        return Outcome(findings, safe, unsafe)
    except Exception as error:
        return Outcome(error=_described(error))
    finally:
        _limit(0)


def _fixed(torchlint: Any, text: str, name: str, select: Sequence[str], *, unsafe: bool) -> str:
    try:
        return short_hash(torchlint.fix(text, filename=name, unsafe=unsafe, select=select).text)
    except Exception as error:
        return f"error: {_described(error)}"


def _limit(seconds: int) -> None:
    """Ends the process when it has worked for so long from now on, in whatever code it is by then."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _described(error: Exception) -> str:
    """The kind of an error and what it says, with where it comes from if it is not one for users."""
    name = type(error).__name__
    if name == "SourceError":
        return f"{name}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    return f"{name}: {error} (in {Path(frames[-1].filename).name}, {frames[-1].name})"


# --- comparing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same; ``rule`` is a selection where it is about a file, ``details`` are further lines."""

    rule: str
    kind: str
    place: str
    details: tuple[str, ...] = ()


@dataclass(slots=True)
class Comparison:
    """What two recordings come to; ``changed`` are the files that had another text, which are passed over."""

    files: int = 0
    only_old: int = 0
    only_new: int = 0
    changed: list[str] = field(default_factory=list)
    findings: Counter[str] = field(default_factory=Counter)
    fixes: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)


def compare(old: Recording, new: Recording, code: str = "") -> Comparison:
    """Compares two recordings, or what they say of the rules whose codes begin with ``code``; raises `CompareError`."""
    selections = [each for each in old.selections if each in new.selections]
    if not selections:
        raise CompareError(f"other rules: {' '.join(old.selections)} and {' '.join(new.selections)}")
    comparison = Comparison()
    both = [path for path in old.files if path in new.files]
    comparison.only_old, comparison.only_new = len(old.files) - len(both), len(new.files) - len(both)
    for path in both:
        if old.files[path] != new.files[path]:
            comparison.changed.append(path)
            continue
        comparison.files += 1
        for selection in selections:
            was, now = (each.outcomes.get((path, selection), Outcome()) for each in (old, new))
            _compare_outcomes(comparison, path, selection, was, now, code)
    return comparison


def _compare_outcomes(comparison: Comparison, path: str, selection: str, old: Outcome, new: Outcome, code: str) -> None:
    if old.error != new.error:
        details = (f"old: {_or_none(old.error)}", f"new: {_or_none(new.error)}")
        comparison.differences.append(Difference(selection, "error differs", path, details))
        return
    was, now = ([finding for finding in each.findings if finding.code.startswith(code)] for each in (old, new))
    less, more = (list((Counter(was) - Counter(now)).elements()), list((Counter(now) - Counter(was)).elements()))
    for name, findings, without in (("old", was, ()), ("new", now, ()), ("equal", was, less)):
        comparison.findings[name] += len(findings) - len(without)
        comparison.fixes[name] += _count_of_fixes(findings) - _count_of_fixes(without)
    differences = list(_differences(path, less, more))
    comparison.differences += differences
    if not differences and was != now:
        comparison.differences.append(Difference(selection, "order of the findings differs", path))
    if differences or not selection.startswith(code):
        return  # other rules have a part in the text with all fixes
    for kind, before, after in (("safe", old.safe, new.safe), ("unsafe", old.unsafe, new.unsafe)):
        if before != after:
            details = (f"old: {_or_none(before)}", f"new: {_or_none(after)}")
            comparison.differences.append(Difference(selection, f"file with all {kind} fixes differs", path, details))


def _count_of_fixes(findings: Iterable[Found]) -> int:
    return sum(finding.fix is not None for finding in findings)


def _differences(path: str, less: Sequence[Found], more: Sequence[Found]) -> Iterator[Difference]:
    """How the findings that only the old recording has differ from those that only the new one has."""
    unmatched = list(more)
    for finding in less:
        others = [other for other in unmatched if other.start == finding.start]
        if not others:
            yield Difference(finding.code, "finding lost", f"{path}:{finding.place}", (finding.message,))
            continue
        other = max(others, key=lambda other: _likeness(finding, other))
        unmatched.remove(other)
        for kind, *details in _changes(finding, other):
            yield Difference(finding.code, kind, f"{path}:{finding.place}", tuple(details))
    for finding in unmatched:
        yield Difference(finding.code, "finding gained", f"{path}:{finding.place}", (finding.message,))


def _likeness(one: Found, other: Found) -> tuple[bool, bool, bool]:
    same_end = (one.end_row, one.end_column) == (other.end_row, other.end_column)
    return same_end, one.message == other.message, one.fix == other.fix


def _changes(old: Found, new: Found) -> Iterator[tuple[str, ...]]:
    """What has changed in a finding: a kind of difference, and lines that show it."""
    if (old.end_row, old.end_column) != (new.end_row, new.end_column):
        yield "end of finding changed", f"old: {old.end_row}:{old.end_column}", f"new: {new.end_row}:{new.end_column}"
    if old.message != new.message:
        yield "message changed", f"old: {old.message}", f"new: {new.message}"
    if old.fix is None and new.fix is not None:
        yield "fix gained", f"new: {new.fix.message}", *(f"     {edit}" for edit in new.fix.edits)
    if old.fix is not None and new.fix is None:
        yield "fix lost", f"old: {old.fix.message}", *(f"     {edit}" for edit in old.fix.edits)
    if old.fix is None or new.fix is None:
        return
    if old.fix.message != new.fix.message:
        yield "message of fix changed", f"old: {old.fix.message}", f"new: {new.fix.message}"
    if old.fix.applicability != new.fix.applicability:
        yield "applicability changed", f"old: {old.fix.applicability}", f"new: {new.fix.applicability}"
    if old.fix.result != new.fix.result:
        was, now = ([f"{name}: {edit}" for edit in fix.edits] for name, fix in (("old", old.fix), ("new", new.fix)))
        yield "fixed text differs", *was, *now


def _or_none(text: str | None) -> str:
    return "none" if text is None else text


def shown(comparison: Comparison, limit: int = 0) -> Iterator[str]:
    """The lines of a report, with at most ``limit`` differences of each kind for each rule, or all of them."""
    passed_over = f"{comparison.only_old} only in the old, {comparison.only_new} only in the new"
    yield f"files     {comparison.files} in both ({passed_over}, {len(comparison.changed)} with another text)"
    for name, counts in (("findings", comparison.findings), ("fixes", comparison.fixes)):
        yield f"{name:<9} {counts['old']} old, {counts['new']} new, {counts['equal']} equal"
    if comparison.changed:
        yield f"not compared, as the text has changed: {', '.join(comparison.changed)}"
    if not comparison.differences:
        yield "no differences"
        return
    grouped: dict[str, dict[str, list[Difference]]] = defaultdict(lambda: defaultdict(list))
    for difference in comparison.differences:
        grouped[difference.rule][difference.kind].append(difference)
    for rule, kinds in sorted(grouped.items()):
        yield ""
        yield f"{rule}: {', '.join(f'{kind}: {len(each)}' for kind, each in sorted(kinds.items()))}"
        for kind, differences in sorted(kinds.items()):
            yield f"  {kind}"
            for difference in differences[: limit or None]:
                yield f"    {difference.place}"
                yield from (f"      {line}" for line in difference.details)
            if limit and len(differences) > limit:
                yield f"    and {len(differences) - limit} more"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record what a checkout makes of the files below folders")
    recording.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    recording.add_argument("--checkout", type=Path, required=True, help="the folder that has the package torchlint in it")
    recording.add_argument("--out", type=Path, required=True, help="the file to write")
    recording.add_argument("--select", default="ALL", metavar="CODES", help="codes or prefixes, with commas (default: all)")
    recording.add_argument("--alone", action="store_true", help="run each rule alone: none yields to another then")
    recording.add_argument("--files", type=Path, action="append", default=[], metavar="LIST", help="a file with paths")
    recording.add_argument("-j", "--jobs", type=int, default=2, help="processes (default: %(default)s)")
    comparing = commands.add_parser("compare", help="show how two recordings differ")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--code", default="", help="only findings of the rules whose codes begin so")
    comparing.add_argument("--limit", type=int, default=0, help="show so many differences of each kind (default: all)")
    working = commands.add_parser("work", help="not for users: what `record` starts")
    working.add_argument("package", type=Path)
    working.add_argument("selection", nargs="+")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
