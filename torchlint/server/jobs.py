"""What is done with a text: linted, fixed, given a noqa comment, explained. All of it happens in the worker.

A text that was looked at stands for its file where others of the project ask, saved or not, until it is closed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from torchlint.config.files import ConfigError, Resolver, possible_files, read_settings
from torchlint.config.settings import Overrides, Selection, Settings
from torchlint.diagnostic import Diagnostic, Edit, FileError, Location
from torchlint.engine.deadline import TimeIsUpError, deadline
from torchlint.engine.examination import Action, Task, examine
from torchlint.engine.explanation import explain
from torchlint.engine.findings import settle
from torchlint.project.files import Files, still_hold
from torchlint.project.reading import Answers
from torchlint.proof.evidence import records
from torchlint.rules import own_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.documentation import sections
from torchlint.rules.plugins import PluginError
from torchlint.rules.selection import SelectionError, codes_of_names
from torchlint.server.settings import Chosen
from torchlint.server.versions import edits
from torchlint.target import TorchVersion
from torchlint.text.noqa import noqa_edit
from torchlint.text.notebook import NotebookSource
from torchlint.text.reading import NOTEBOOK
from torchlint.text.source import Source, SourceError

Stamp: TypeAlias = tuple[int, int, int] | None
"""What tells one state of a file from another; None where there is no file."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A text that an editor holds: the path that it has, or would have, the text (a notebook's as JSON), and what is chosen."""

    path: str
    text: str
    chosen: Chosen

    @property
    def data(self) -> bytes:
        """The text as UTF-8, whatever it declares."""
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def source(self) -> Source:
        """The text to be read; raises `SourceError`."""
        if self.path.endswith(NOTEBOOK):
            return NotebookSource.decode(self.data, self.path)
        return Source.decode(self.data, self.path, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Lint:
    """Find what is to be found, with fixes or, which is sooner done, without; the answer is `Looked`."""

    buffer: Buffer
    fixes: bool = False


@dataclass(frozen=True, slots=True)
class FixAll:
    """Make all safe fixes; the answer is a list of `Edit`."""

    buffer: Buffer


@dataclass(frozen=True, slots=True)
class Silence:
    """Add a noqa comment for a finding; the answer is an `Edit`, or None where no comment helps."""

    buffer: Buffer
    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class Explain:
    """Tell what is known of the expression at a place, in a cell of a notebook; the answer is `Explained` or None."""

    buffer: Buffer
    cell: int | None
    place: Location


@dataclass(frozen=True, slots=True)
class Describe:
    """Tell about a rule of those that there are for a text; the answer is `Described` or None."""

    buffer: Buffer
    code: str


@dataclass(frozen=True, slots=True)
class Close:
    """Forget the text that an editor held for a path: the file counts again."""

    path: str


@dataclass(frozen=True, slots=True)
class Outdated:
    """Tell which of the texts that were looked at would be told something else of other files; the answer is their paths."""


Job: TypeAlias = Lint | FixAll | Silence | Explain | Describe | Close | Outdated


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in a text, and the state of the files that the settings for it come from, or might."""

    diagnostics: tuple[Diagnostic, ...] = ()
    errors: tuple[FileError, ...] = ()
    configuration: Mapping[str, Stamp] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explained:
    """What is known of an expression, of the rows and columns of its cell."""

    text: str
    start: Location
    end: Location
    kind: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """What a rule finds and why that is bad, in Markdown, and what its hazard program showed: device, before, after."""

    what: str
    why: str
    proofs: tuple[tuple[str, Mapping[str, object], Mapping[str, object]], ...]


class Desk:
    """Where jobs are done, one after the other; keeps the settings of files as long as no configuration file changes."""

    def __init__(self) -> None:
        self._resolvers: dict[Chosen, Resolver] = {}
        self._stamps: dict[str, Stamp] = {}
        self._files = Files()
        self._answers: dict[str, Answers] = {}
        """What each text that is open was told of other files when it was looked at."""

    def prepare(self) -> None:
        """Imports what the first job would have to wait for, and has statements parsed once that stay as they are."""
        settle(own_rules())

    def do(self, job: Job) -> object:
        """The answer to a job."""
        match job:
            case Lint(buffer, fixes):
                return self._linted(buffer, fixes=fixes)
            case FixAll(buffer):
                return self._fixed(buffer)
            case Silence(buffer, diagnostic):
                return self._silenced(buffer, diagnostic)
            case Explain(buffer, cell, place):
                return self._explained(buffer, cell, place)
            case Describe(buffer, code):
                return _described(code, self._settings(buffer).known)
            case Close(path):
                self._files.texts.pop(path, None)
                self._answers.pop(path, None)
                return None
            case Outdated():
                files = self._project()
                return [path for path, answers in self._answers.items() if not still_hold(files, path, answers)]

    def _linted(self, buffer: Buffer, *, fixes: bool) -> Looked:
        try:
            task = self._task(buffer)
        except (ConfigError, SelectionError, PluginError) as error:
            wrong = FileError(buffer.path, str(error), code="invalid-configuration")
            return Looked(errors=(wrong,), configuration=dict(self._stamps))
        if task is None:
            return Looked(configuration=dict(self._stamps))
        outcome = examine(buffer.data, buffer.path, replace(task, fixes=fixes), self._project())
        self._answers[buffer.path] = outcome.answers
        if buffer.path.endswith(".py") and not any(each.code == "invalid-syntax" for each in outcome.errors):
            self._files.texts[buffer.path] = buffer.data  # where it is no Python for a moment, what it was last counts
        return Looked(outcome.diagnostics, outcome.errors, dict(self._stamps))

    def _fixed(self, buffer: Buffer) -> list[Edit]:
        task = self._task(buffer)
        if task is None:
            return []
        outcome = examine(buffer.data, buffer.path, replace(task, action=Action.FIX), self._project())
        if outcome.replacement is None:
            return []
        text = outcome.replacement.decode("utf-8", "surrogatepass")
        if not buffer.path.endswith(NOTEBOOK):
            return edits(buffer.text, text)
        cells = zip(json.loads(buffer.text)["cells"], json.loads(text)["cells"], strict=True)
        return [edit for number, (old, new) in enumerate(cells, 1) for edit in edits(old["source"], new["source"], number)]

    def _silenced(self, buffer: Buffer, diagnostic: Diagnostic) -> Edit | None:
        settings = self._settings(buffer)
        source = buffer.source
        if isinstance(source, NotebookSource) and diagnostic.cell is not None:
            start = Location(source.row_in_program(diagnostic.cell, diagnostic.location.row), diagnostic.location.column)
            diagnostic = replace(diagnostic, location=start)
        edit = noqa_edit(source, diagnostic, codes_of_names(settings.known))
        return edit and source.located_edit(edit)

    def _explained(self, buffer: Buffer, cell: int | None, place: Location) -> Explained | None:
        settings = self._settings(buffer)
        try:
            source = buffer.source
            row = source.row_in_program(cell or 0, place.row) if isinstance(source, NotebookSource) else place.row
            with deadline(settings.timeout_per_file):
                reading = None if settings.project is None else self._project().reading(buffer.path, settings.project)
                found = explain(source, Location(row, place.column), reading)
        except (SourceError, LookupError, RecursionError, TimeIsUpError):
            return None
        span = source.located_edit(Edit(found.start, found.end, ""))
        return Explained(found.text, span.location, span.end_location, found.kind, found.details)

    # --- settings -----------------------------------------------------------------------------------------------------

    def _task(self, buffer: Buffer) -> Task | None:
        """What is done with a text, less the action; None where it is excluded."""
        settings = self._settings(buffer)
        if settings.excluded.match_inside(buffer.path):
            return None
        return Task(
            settings.rules,
            options=settings.options,
            settings=settings,
            max_file_size=settings.max_file_size,
            timeout=settings.timeout_per_file,
            project_root=settings.project,
            encoding="utf-8",
        )

    def _project(self) -> Files:
        """The files of the project, as they are on disk now."""
        self._files.look_again()
        return self._files

    def _settings(self, buffer: Buffer) -> Settings:
        """What holds for a text; raises `ConfigError`, `SelectionError` and `PluginError`."""
        if any(stamp(path) != known for path, known in self._stamps.items()):
            self._resolvers.clear()
            self._stamps.clear()
        directory = os.path.dirname(buffer.path)
        chosen = buffer.chosen
        self._watch({chosen.configuration} if chosen.configuration else possible_files([directory]))
        resolver = self._resolvers.get(chosen)
        if resolver is None:
            resolver = self._resolvers[chosen] = _resolver(chosen)
        try:
            return resolver.of_directory(directory)
        except ConfigError as error:
            self._watch({error.error.filename})
            raise
        finally:
            self._watch(resolver.files)

    def _watch(self, files: Iterable[str]) -> None:
        self._stamps.update((path, stamp(path)) for path in set(map(os.path.abspath, files)) - self._stamps.keys())


def _resolver(chosen: Chosen) -> Resolver:
    target = TorchVersion.parse(chosen.target_torch) if chosen.target_torch else None
    overrides = Overrides(Selection(chosen.select, chosen.ignore, chosen.extend_select), {"target_torch": target})
    fixed = None
    if chosen.configuration:
        fixed = overrides(read_settings(chosen.configuration) or Settings(os.path.dirname(chosen.configuration)))
    return Resolver(fixed, overrides)


def stamp(path: str) -> Stamp:
    """The state of the file at ``path``."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _described(code: str, known: Sequence[Entry]) -> Described | None:
    rule = next((rule for rule in known if rule.code == code), None)
    if rule is None:
        return None
    said = sections(rule)
    proofs = [
        (f"{proof['device']}, torch {record['torch']}", proof["before"], proof["after"])
        for record in records()
        for proof in record["proofs"]
        if proof["code"] == code and proof["before"] is not None and proof["after"] is not None
    ]
    return Described(said.get("What it does", "").strip(), said.get("Why is this bad", "").strip(), tuple(proofs))
