"""What comes of one file: linted, fixed, shown as a diff, or given noqa comments. Nothing is read or written here."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from torchlint.diagnostic import Applicability, Diagnostic, FileError
from torchlint.engine.deadline import TimeIsUpError, deadline
from torchlint.engine.linter import lint
from torchlint.engine.words import passes_sieve
from torchlint.options import DEFAULT_TIMEOUT, DEFAULTS, Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import codes_of_names
from torchlint.text.reading import DEFAULT_LIMIT, NOTEBOOK, refuse_larger
from torchlint.text.source import Source, SourceError

if TYPE_CHECKING:
    from torchlint.engine.baseline import Baseline
    from torchlint.project.files import Files
    from torchlint.project.reading import Reading

BUG_REPORTS = "https://github.com/torchlint/torchlint/issues"
_DEBUGGING = "TORCHLINT_DEBUG=1 shows where it happened"


class Action(Enum):
    """What is done with each file."""

    LINT = "lint"
    FIX = "fix"
    DIFF = "diff"
    ADD_NOQA = "add noqa comments"


class RulesByFile(Protocol):
    """Settings that may take some of the rules away for some of the files; they are sent to other processes."""

    def rules_for(self, path: str) -> tuple[Entry, ...]:
        """The rules that run on the file at ``path``."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What a run does with each of its files.

    Fixes and comments are for what is not in the ``baseline``. Files of more bytes than ``max_file_size`` are refused.
    """

    rules: tuple[Entry, ...]
    action: Action = Action.LINT
    applicability: Applicability = Applicability.SAFE
    options: Options = DEFAULTS
    settings: RulesByFile | None = None
    baseline: Baseline | None = None
    max_file_size: int = DEFAULT_LIMIT
    suppress: bool = True
    """Whether noqa comments count."""
    fixes: bool = True
    """Whether findings come with their fixes, where the action is to lint."""
    timeout: float = DEFAULT_TIMEOUT
    """The seconds of processor time after which a file is given up; 0 is no limit."""
    always_parsed: bool = False
    """Whether files are parsed even if no rule is interested in them."""
    project_root: str | None = None
    """The root of the project that the files are in; empty where it is looked for, `None` for none: each file alone."""
    encoding: str = ""
    """The encoding of what is given, for texts that are in another than the one that they declare: those of editors."""
    tells_answers: bool = True
    """Whether it is told which answers of other files an outcome rests on."""

    def rules_for(self, path: str) -> tuple[Entry, ...]:
        """The rules that run on the file at ``path``."""
        return self.rules if self.settings is None else self.settings.rules_for(path)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file: findings left, errors, the findings that were fixed or commented on, and the diff that shows it.

    ``replacement`` is the file's new content where it is to be written. It ``is_lasting`` where it depends on nothing but the
    file's content, the task, and the ``answers`` of other files of its project. ``filename`` is there for outcomes of a whole
    run.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    errors: tuple[FileError, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    diff: str = ""
    replacement: bytes | None = None
    is_lasting: bool = False
    answers: tuple[tuple[str, str], ...] = ()
    filename: str = ""

    @property
    def says_something(self) -> bool:
        """Whether there is something to be shown of the file."""
        return bool(self.diagnostics or self.errors or self.fixed or self.diff)


NOTHING = Outcome()


def may_hold_findings(data: bytes, path: str, task: Task) -> bool:
    """Whether the sieve of words lets the file at ``path``, which holds ``data``, pass; of a notebook only its code tells."""
    return path.endswith(NOTEBOOK) or passes_sieve(data, task.rules_for(path))


def examine(data: bytes, filename: str, task: Task, files: Files | None = None) -> Outcome:
    """What comes of a file that holds ``data``; nothing is written, and nothing raised.

    Nothing is read, either, but ``files`` of its project, where the task has one.
    """
    try:
        with deadline(task.timeout):
            return _within_time(data, filename, task, files)
    except TimeIsUpError:
        return failed(filename, f"cannot lint: it takes longer than {task.timeout:g} s (see timeout-per-file)", "timeout")


def _within_time(data: bytes, filename: str, task: Task, files: Files | None) -> Outcome:
    """What comes of a file, however long that takes."""
    source: Source | None = None
    try:
        refuse_larger(len(data), filename, task.max_file_size)
        if not task.always_parsed and not may_hold_findings(data, filename, task):
            return NOTHING
        source = _decoded(data, filename, task.encoding)
        refuse_larger(len(source.text), "", task.max_file_size)  # of a notebook, the code alone
        if task.always_parsed:
            _ = source.tree
        is_shared = files is not None and not task.encoding and not filename.endswith(NOTEBOOK)
        if files is not None and is_shared:
            source.take_tree(files.trees.kept(data))
        reading = files.reading(filename, task.project_root) if files is not None and task.project_root is not None else None
        outcome = _examined(source, task, data, reading)
        if files is not None and reading is not None and is_shared and source.parsed is not None:
            files.trees.keep(data, source.parsed)
        if reading is not None and task.tells_answers:
            outcome = replace(outcome, answers=reading.answers)
        unread = _unread(source, task)
        return replace(outcome, errors=(*unread, *outcome.errors)) if unread else outcome
    except SourceError as error:
        located = error.error if source is None else source.located_error(error.error)
        return Outcome(errors=(located,), is_lasting=True)
    except RecursionError:
        return Outcome(errors=(FileError(filename, "cannot lint: the code is nested too deeply"),), is_lasting=True)
    except OSError as error:
        return failed(filename, f"cannot lint: {error.strerror or error}", "io-error")
    except MemoryError:
        return failed(filename, "cannot lint: out of memory", "io-error")
    except Exception as error:
        if os.environ.get("TORCHLINT_DEBUG"):
            import traceback

            traceback.print_exc()
        if plugin := _plugin_behind(error, task.rules_for(filename)):
            return failed(filename, f"error in the plugin {plugin}: {_one_line(error)}; {_DEBUGGING}", "internal-error")
        return failed(filename, f"internal error: {_one_line(error)}; {please_report()}", "internal-error")


def _examined(source: Source, task: Task, data: bytes, reading: Reading | None) -> Outcome:
    """What comes of the parts of a file that can be read."""
    match task.action:
        case Action.LINT:
            rules = task.rules_for(source.filename)
            found = lint(source, rules, task.options, suppress=task.suppress, fixes=task.fixes, reading=reading)
            return Outcome(_located(source, found), source.passed_over, is_lasting=True)
        case Action.ADD_NOQA:
            return _with_comments(source, task, data, reading)
    return _fixed(source, task, data, reading)


def _unread(source: Source, task: Task) -> tuple[FileError, ...]:
    """The errors of parts that cannot be read, where a rule might have something to say of the file."""
    if not source.errors:
        return ()
    searched = source.searched.encode("utf-8", "surrogatepass")
    return source.errors if task.always_parsed or passes_sieve(searched, task.rules_for(source.filename)) else ()


def _plugin_behind(error: Exception, rules: Iterable[Entry]) -> str:
    """The plugin whose code an error came through, and where that was; empty where it is torchlint's own."""
    plugins = {rule.module.partition(".")[0] for rule in rules if rule.plugin}
    found = ""
    trace = error.__traceback__
    while trace is not None:
        top = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in plugins:
            found = f"`{top}` ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return found


def _located(source: Source, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(source.located(diagnostic) for diagnostic in diagnostics)


def _with_comments(source: Source, task: Task, data: bytes, reading: Reading | None) -> Outcome:
    found = lint(source, task.rules_for(source.filename), task.options, reading=reading)
    wanted = found if task.baseline is None else task.baseline.new(found)
    if not wanted:
        return Outcome(errors=source.passed_over)
    from torchlint.text.noqa import Suppressions, with_noqa

    names = codes_of_names(all_rules(task.options.plugins))
    text = with_noqa(source, wanted, names)
    commented = source.with_text(text)
    if not _is_same_program(source.tree, commented):
        return failed(
            source.filename, f"internal error: the comments would change the code; {please_report()}", "internal-error"
        )
    comments = Suppressions(commented, names)
    silenced = {each: comments.covers(each.code, each.location.row) for each in wanted}
    refused = (source.located_error(_no_comment_for(each)) for each in wanted if not silenced[each])
    errors = (*source.passed_over, *refused)
    if text == source.text:
        return Outcome(errors=errors)
    try:
        replacement = _replacement(source, text, data, task.encoding)
    except ValueError as error:
        return failed(source.filename, f"cannot add comments: {error}", "io-error")
    return Outcome(errors=errors, fixed=tuple(each for each in wanted if silenced[each]), replacement=replacement)


def _no_comment_for(diagnostic: Diagnostic) -> FileError:
    reason = "what stands in a string there counts as the line's noqa comment"
    return FileError(
        diagnostic.filename, f"cannot add a comment for {diagnostic.code}: {reason}", diagnostic.location, "io-error"
    )


def _is_same_program(tree: ast.Module, source: Source) -> bool:
    try:
        return ast.dump(source.tree) == ast.dump(tree)
    except SourceError:
        return False


def _replacement(source: Source, text: str, data: bytes, encoding: str) -> bytes:
    """What the file, which holds ``data``, is to hold for a new ``text``.

    Raises `ValueError` where some character has no bytes in the file's encoding, or bytes would change of what is in neither
    text: there are encodings that have several spellings for one text, and notebooks with lines like the ones that stand for
    magics.
    """
    try:
        replacement = source.encode(text)
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[error.start : error.end]!r} cannot be written in {source.encoding}") from None
    if source.encode(source.text) != data or _decoded(replacement, source.filename, encoding).text != text:
        raise ValueError(f"other parts of the file would not stay as they are, byte for byte ({source.encoding})")
    return replacement


def _decoded(data: bytes, filename: str, encoding: str) -> Source:
    if not filename.endswith(NOTEBOOK):
        return Source.decode(data, filename, encoding=encoding)
    from torchlint.text.notebook import NotebookSource

    return NotebookSource.decode(data, filename)


def _fixed(source: Source, task: Task, data: bytes, reading: Reading | None) -> Outcome:
    from torchlint.engine.fixer import fix

    rules = task.rules_for(source.filename)
    wanted = list if task.baseline is None else task.baseline.new
    result = fix(source, rules, task.applicability, task.options, suppress=task.suppress, wanted=wanted, reading=reading)
    errors = tuple(
        FileError(
            source.filename,
            f"internal error: the fix of {broken.code} went wrong and was dropped; {please_report()}",
            broken.location,
            "internal-error",
            broken.cell,
        )
        for broken in result.broken
    )
    fixed = source.with_text(result.text)
    outcome = Outcome(_located(fixed, result.remaining), (*result.errors, *errors))
    if result.text == source.text:
        return replace(outcome, is_lasting=not errors and task.baseline is None)
    try:
        replacement = _replacement(source, result.text, data, task.encoding)
    except (SourceError, ValueError) as error:
        unfixed = _located(source, lint(source, rules, task.options, suppress=task.suppress, reading=reading))
        return Outcome(unfixed, (*errors, FileError(source.filename, f"cannot fix: {error}", code="io-error")))
    outcome = replace(outcome, fixed=tuple(result.fixed))
    if task.action is Action.DIFF:
        return replace(outcome, diff=source.diff(result.text))
    return replace(outcome, replacement=replacement)


def failed(path: str, message: str, code: str) -> Outcome:
    """The outcome of a file with which something went wrong."""
    return Outcome(errors=(FileError(path, message, code=code),))


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def please_report() -> str:
    """What the message of an internal error ends in."""
    return f"please report this at {BUG_REPORTS} ({_DEBUGGING})"
