"""What ``torchlint check`` does with its options: files and settings found, linted or fixed, and the report written."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TextIO

from torchlint.cli.exits import CLEAN, ERROR, FINDINGS, refuse
from torchlint.cli.output import Output, OutputError
from torchlint.config.discovery import Discovery, discover
from torchlint.config.files import ConfigError, Resolver, inline, possible_files, read_settings
from torchlint.config.settings import Overrides, Selection, Settings, shown
from torchlint.diagnostic import Applicability, Diagnostic, FileError, printable
from torchlint.engine.baseline import Baseline, BaselineError
from torchlint.engine.cache import FOLDER, Cache, settings_key
from torchlint.engine.runner import NOTHING, Action, Outcome, Task, examine, run
from torchlint.project.files import Files
from torchlint.reporters.report import Report
from torchlint.reporters.summary import unread, unsafe_fixes, would_fix
from torchlint.rules.plugins import states
from torchlint.rules.selection import SelectionError, codes_in
from torchlint.text.cache_folder import may_be_cache

_STANDARD_INPUT = "-"
_STANDARD_INPUT_NAME = "<stdin>"


def check(options: argparse.Namespace) -> int:
    """Does what ``torchlint check`` was asked to, and returns the exit code."""
    if options.bug_report:
        from torchlint.config.bug_report import text

        sys.stdout.write(text(lambda: _Run(options).asked))
        return CLEAN
    return _caught(lambda: _Run(options).check())


def _caught(run: Callable[[], int]) -> int:
    """What ``run`` returns; where it raises what a user is to be told, that is said."""
    try:
        return run()
    except (BaselineError, ConfigError, OutputError) as error:
        print(printable(str(error)), file=sys.stderr)
        return ERROR
    except SelectionError as error:
        return refuse(str(error))


class _Run:
    """One run of the command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._output = Output(options)
        self._overrides = _overrides(options)
        self._resolver = _resolver(options, self._overrides)
        self._applicability = Applicability.UNSAFE if options.unsafe_fixes else Applicability.SAFE
        self._baseline = Baseline.read(options.baseline) if options.baseline else None

    def check(self) -> int:
        """Lints, fixes or shows; returns the exit code."""
        options = self._options
        if options.show_settings:
            return self._show_settings()
        if _STANDARD_INPUT in options.paths or options.stdin_filename:
            return self._check_standard_input()
        if options.show_files:
            return self._show_files()
        if options.watch:
            return self._watch()
        return self._check_files()

    def _watch(self) -> int:
        """Checks again with every change; each time with the settings that then hold."""
        from torchlint.cli.watching import watch

        options, files = self._options, self._resolver.files
        paths = options.paths or [os.curdir]
        once = argparse.Namespace(**{**vars(options), "watch": False})

        def check_again() -> int:
            return _caught(check_once)

        def check_once() -> int:
            nonlocal files
            run = _Run(once)
            try:
                return run.check()
            finally:
                files = files | run._resolver.files

        named = {given for given in options.config if _names_file(given)}
        return watch(paths, check_again, lambda: (set() if options.isolated else possible_files(paths)) | named | files)

    # --- what is asked for --------------------------------------------------------------------------------------------

    @property
    def asked(self) -> Settings:
        """The settings for the first path."""
        path = os.path.abspath(self._options.paths[0] if self._options.paths else os.curdir)
        settings = self._resolver.of_directory(path if os.path.isdir(path) else os.path.dirname(path))
        self._overrides.require_known()
        return settings

    def _show_settings(self) -> int:
        sys.stdout.write(shown(self.asked))
        return CLEAN

    def _show_files(self) -> int:
        discovery = self._discovery()
        self._output.errors(discovery.errors)
        self._output.names(discovery.files)
        return ERROR if discovery.errors else CLEAN

    def _check_files(self) -> int:
        discovery = self._discovery()
        self._keep_from_overwriting(discovery.files)
        if not discovery.files and not discovery.errors:
            self._output.note("warning: no Python files found under the given paths\n")
        outcomes: list[Outcome] = []
        from torchlint.cli.progress import Progress

        options = self._options
        with Progress(len(discovery.files), sys.stderr, wanted=not options.quiet, color=options.color) as progress:
            for settings, files in _by_settings(discovery):
                task = self._task(settings)
                jobs = options.jobs or _processors()
                outcomes += run(files, task, jobs=jobs, cache=self._cache(task, settings), advance=progress.advance)
        place = {file: index for index, file in enumerate(discovery.files)}
        outcomes.sort(key=lambda outcome: place.get(outcome.filename, -1))
        return self._report(outcomes, discovery.errors, sys.stdout)

    def _check_standard_input(self) -> int:
        options = self._options
        if [path for path in options.paths if path != _STANDARD_INPUT] or options.watch:
            return refuse("standard input (`-`) cannot be linted together with other paths")
        if sys.stdin is None:
            return refuse("the standard input is closed")
        name = options.stdin_filename or _STANDARD_INPUT_NAME
        path = os.path.abspath(name)
        settings = self._resolver.of_directory(os.path.dirname(path))
        self._overrides.require_known()
        data = sys.stdin.buffer.read()
        left_out = options.stdin_filename and options.force_exclude and settings.excluded.match_inside(path)
        task = replace(self._task(settings), always_parsed=True)
        outcome = NOTHING if left_out else examine(data, name, task, Files() if options.stdin_filename else None)
        if task.action not in (Action.FIX, Action.ADD_NOQA):
            return self._report([outcome], (), sys.stdout)
        sys.stdout.buffer.write(data if outcome.replacement is None else outcome.replacement)
        return self._report([outcome], (), sys.stderr)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _discovery(self) -> Discovery:
        options = self._options
        found = discover(options.paths or [os.curdir], self._resolver, force_exclude=options.force_exclude)
        self._overrides.require_known()
        return found

    def _keep_from_overwriting(self, files: Iterable[str]) -> None:
        """Raises `OutputError` where what is to be written would take the place of one of ``files``."""
        for path in (self._options.output_file, self._options.write_baseline):
            if path and os.path.isfile(path) and any(_is_same_file(path, file) for file in files):
                raise OutputError(f"{path}: error: this is one of the files to lint, and would be overwritten")

    def _task(self, settings: Settings) -> Task:
        options = self._options
        action = Action.LINT
        for chosen, possible in (
            (options.add_noqa, Action.ADD_NOQA),
            (options.fix or options.fix_only, Action.FIX),
            (options.diff, Action.DIFF),
        ):
            action = possible if chosen else action
        return Task(
            settings.rules,
            action,
            self._applicability,
            settings.options,
            settings,
            self._baseline,
            settings.max_file_size,
            suppress=not options.ignore_noqa,
            timeout=settings.timeout_per_file,
            project_root=settings.project,
        )

    def _cache(self, task: Task, settings: Settings) -> Cache | None:
        if self._options.no_cache:
            return None
        folder = self._options.cache_dir or settings.cache_dir or FOLDER
        if self._options.cache_dir and not may_be_cache(folder):
            raise OutputError(f"{folder}: error: there are other things in it, and the cache needs a folder of its own")
        ignores = repr(settings.per_file_ignores and (settings.root, settings.per_file_ignores))
        codes = (rule.code for rule in task.rules)
        return Cache(
            folder,
            settings_key(codes, repr((task.options.key, task.suppress, task.project_root)), ignores, *states(settings.known)),
        )

    # --- what came of it ----------------------------------------------------------------------------------------------

    def _report(self, outcomes: Sequence[Outcome], errors: Sequence[FileError], stream: TextIO) -> int:
        """Writes what the run came to; returns the exit code."""
        options = self._options
        report = Report(
            [] if options.fix_only and not options.diff else [each for outcome in outcomes for each in self._new(outcome)],
            [*errors, *(error for outcome in outcomes for error in outcome.errors)],
            self._applicability,
            {outcome.filename: outcome.fixed for outcome in outcomes if outcome.fixed},
            options.quiet,
            options.fix_only,
            self._overrides.seen,
        )
        self._output.errors(report.errors)
        if options.write_baseline or options.add_noqa or options.diff:
            self._output.note("".join(unread(report)))
        if options.write_baseline:
            return self._write_baseline(report)
        if options.add_noqa:
            added = len(report.fixed)
            self._output.note(f"Added {added} noqa comment{'' if added == 1 else 's'}.\n")
            return ERROR if report.errors else CLEAN
        if options.diff:
            self._output.diffs(outcome.diff for outcome in outcomes)
            self._output.note("".join(unsafe_fixes(report)))
            self._output.note(would_fix(report))
            return self._exit_code(report, report.fixed)
        self._output.report(report, self._here.output_format, stream)
        return self._exit_code(report, report.diagnostics)

    @property
    def _here(self) -> Settings:
        """The settings for what is about the run and no file: those of the working directory."""
        return self._resolver.of_directory(os.getcwd())

    def _new(self, outcome: Outcome) -> Iterable[Diagnostic]:
        return outcome.diagnostics if self._baseline is None else self._baseline.new(outcome.diagnostics)

    def _write_baseline(self, report: Report) -> int:
        path = self._options.write_baseline
        Baseline.of(report.diagnostics, path).write(path)
        count = len(report.diagnostics)
        self._output.note(f"Wrote {count} finding{'' if count == 1 else 's'} to {path}.\n")
        return ERROR if report.errors else CLEAN

    def _exit_code(self, report: Report, found: Sequence[Diagnostic]) -> int:
        """The code for these findings."""
        if report.errors:
            return ERROR
        only_errors = self._here.exit_nonzero_on == "error"
        fails = any(each.severity == "error" or not only_errors for each in found)
        return FINDINGS if fails and not self._options.exit_zero else CLEAN


def _overrides(options: argparse.Namespace) -> Overrides:
    """What the command line says of settings."""
    codes = {name: tuple(codes_in(getattr(options, name) or ())) for name in ("select", "ignore", "extend_select")}
    selection = Selection(None if options.select is None else codes["select"], codes["ignore"], codes["extend_select"])
    lists = ("fixable", "unfixable", "exclude", "extend_exclude")
    values = {
        "target_torch": options.target_torch,
        "output_format": options.output_format,
        "accumulate_with": options.accumulate_with,
        "exit_nonzero_on": options.exit_nonzero_on,
        "respect_gitignore": options.respect_gitignore,
        "max_file_size": options.max_file_size,
        "timeout_per_file": options.timeout_per_file,
        "project_root": False
        if options.no_project
        else os.path.abspath(options.project_root)
        if options.project_root
        else None,
        **{name: tuple(codes_in(given)) for name in lists if (given := getattr(options, name))},
    }
    return Overrides(selection, values, inline([given for given in options.config if not _names_file(given)]))


def _resolver(options: argparse.Namespace, overrides: Overrides) -> Resolver:
    """Finds the settings for files; raises `ConfigError`."""
    files = [given for given in options.config if _names_file(given)]
    if len(files) > 1 or (files and options.isolated):
        raise ConfigError(files[-1], "`--config` names one file at most, and none beside `--isolated`")
    if options.isolated:
        return Resolver(overrides(Settings(os.getcwd())))
    if files:
        return Resolver(overrides(read_settings(files[0]) or Settings(os.getcwd())))
    return Resolver(overrides=overrides)


def _names_file(given: str) -> bool:
    """Whether what `--config` is given is the name of a file, and not a setting."""
    return "=" not in given or os.path.exists(given)


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # it is gone by now
        return False


def _by_settings(discovery: Discovery) -> Iterable[tuple[Settings, list[str]]]:
    """The files in groups that have the same settings."""
    groups: dict[int, tuple[Settings, list[str]]] = {}
    for file in discovery.files:
        settings = discovery.settings[file]
        groups.setdefault(id(settings), (settings, []))[1].append(file)
    return groups.values()


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
