"""The library's side: a text in, findings or a new text out. No file is read or written, and no configuration looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from torchlint.diagnostic import Applicability, Diagnostic, FileError
from torchlint.engine.deadline import TimeIsUpError, deadline
from torchlint.engine.fixer import FixResult as FixResult
from torchlint.engine.fixer import fix as fix_source
from torchlint.engine.linter import lint as lint_source
from torchlint.options import Accumulation, Options, accumulation
from torchlint.project.files import Files
from torchlint.project.reading import Reading
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import select_rules, unnamed
from torchlint.target import NEWEST, TorchVersion
from torchlint.text.notebook import NotebookSource
from torchlint.text.reading import NOTEBOOK
from torchlint.text.source import Source, SourceError


def lint(
    source: str,
    *,
    filename: str = "<string>",
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    target_torch: str | None = None,
    accumulate_with: Accumulation | None = None,
    plugins: Sequence[str] = (),
    project_root: str | None = None,
    timeout: float = 0,
) -> list[Diagnostic]:
    """The findings in a program, in the order of the text.

    ``source`` is the text of a Python file or, where ``filename`` ends in ``.ipynb``, of a notebook; the filename is that which
    findings carry. ``select``, ``ignore`` and ``extend_select`` choose the rules by code, prefix or name, as the options of the
    command do; ``target_torch`` is the oldest torch that the code has to run on, such as ``"1.13"``, the newest by default.
    ``accumulate_with`` is ``"item"`` or ``"detach"``: what is to take a loss out of its graph where either is right; by default
    ``"item"``, unless the rule is selected that reports it (TPL402). The rules of ``plugins``, installed packages by the names
    that they are imported by, are known besides; those of packages with the entry point ``torchlint.rules`` always are. noqa
    comments are heeded. ``timeout`` is how many seconds of processor time the text may take, where this is the main thread and
    not Windows; 0 is no limit.

    Raises `SourceError` where the text cannot be parsed (for a notebook with cells that cannot, and for statements that are
    nested too deeply, it has the findings of the rest) or takes too long, `SelectionError` for a code that no rule has,
    `TypeError` for a string in place of a list, `ValueError` for a version that is none and `PluginError` for a plugin that
    cannot be used. The function is pure, and its results can be pickled; with a ``project_root``, a folder that ``filename`` is
    below, imports are followed into the files in there, as the command does.
    """
    request = _Request.of(source, filename, select, ignore, extend_select, target_torch, accumulate_with, plugins)
    with _within(timeout, filename):
        _ = request.source.tree  # whatever the rules, a text that is no Python is said to be none
        found = lint_source(request.source, request.rules, request.options, reading=_reading(filename, project_root))
    located = [request.source.located(diagnostic) for diagnostic in found]
    for error in (*request.source.errors, *request.source.passed_over):
        raise SourceError(error, located)
    return located


def fix(
    source: str,
    *,
    filename: str = "<string>",
    unsafe: bool = False,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    unfixable: Sequence[str] = (),
    target_torch: str | None = None,
    accumulate_with: Accumulation | None = None,
    plugins: Sequence[str] = (),
    project_root: str | None = None,
    timeout: float = 0,
) -> FixResult:
    """A program with the fixes of its findings applied.

    The result has the new text (of the whole notebook, for a notebook), the findings that were fixed, as they were when their
    turn came, and those that remain. With ``unsafe``, fixes that may change results are applied as well. The fixes of rules in
    ``unfixable`` are not. Of a notebook with cells that cannot be parsed the others are fixed, and the result has the errors.
    The other parameters, and what is raised, are those of `lint`.
    """
    _require_list("unfixable", unfixable)
    request = _Request.of(source, filename, select, ignore, extend_select, target_torch, accumulate_with, plugins)
    codes = frozenset(rule.code for rule in select_rules(unfixable, among=all_rules(plugins))) if unfixable else frozenset()
    options = request.options._replace(unfixable=codes)
    applicability = Applicability.UNSAFE if unsafe else Applicability.SAFE
    with _within(timeout, filename):
        _ = request.source.tree
        result = fix_source(request.source, request.rules, applicability, options, reading=_reading(filename, project_root))
    fixed = request.source.with_text(result.text)
    text = fixed.notebook_text() if isinstance(fixed, NotebookSource) else result.text
    return FixResult(
        text, result.fixed, tuple(map(fixed.located, result.remaining)), result.broken, (*request.source.errors, *result.errors)
    )


def _require_list(name: str, given: Sequence[str] | None) -> None:
    """Raises `TypeError` for a string, each letter of which would be taken for a code."""
    if isinstance(given, str):
        raise TypeError(f"{name}: expected a list, such as [{given!r}], found the string {given!r}")


@contextmanager
def _within(seconds: float, filename: str) -> Iterator[None]:
    """Raises `SourceError` in place of what it is around once that has taken so many seconds of processor time."""
    try:
        with deadline(seconds):
            yield
    except TimeIsUpError:
        raise SourceError(FileError(filename, f"cannot lint: it takes longer than {seconds:g} s", code="timeout")) from None


def _reading(filename: str, project_root: str | None) -> Reading | None:
    """What a file sees of its project, where one is named."""
    return Files().reading(filename, project_root) if project_root else None


class _Request(NamedTuple):
    """What the parameters come to."""

    source: Source
    rules: tuple[Entry, ...]
    options: Options

    @classmethod
    def of(
        cls,
        source: str,
        filename: str,
        select: Sequence[str] | None,
        ignore: Sequence[str],
        extend_select: Sequence[str],
        target_torch: str | None,
        accumulate_with: Accumulation | None,
        plugins: Sequence[str],
    ) -> _Request:
        for name, given in (("select", select), ("ignore", ignore), ("extend_select", extend_select), ("plugins", plugins)):
            _require_list(name, given)
        target = NEWEST if target_torch is None else TorchVersion.parse(target_torch)
        notebook = filename.endswith(NOTEBOOK)
        read = (
            NotebookSource.decode(source.encode("utf-8", "surrogatepass"), filename) if notebook else Source(source, filename)
        )
        rules = select_rules(select, ignore, extend_select, among=all_rules(plugins))
        with_ = accumulation(accumulate_with, (rule.code for rule in rules))
        lenient = unnamed(rules, (*(select or ()), *extend_select))
        return cls(read, rules, Options(target, with_, plugins=tuple(plugins), lenient=lenient))
