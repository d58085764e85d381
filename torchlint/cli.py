"""The command: arguments, output and exit code.

What a subcommand needs is imported when it runs, so that `--version` and `--help` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from torchlint import __version__
from torchlint.reporters import FORMATS

if TYPE_CHECKING:
    from torchlint.cache import Cache
    from torchlint.config import Resolver, Settings
    from torchlint.diagnostic import Applicability, FileError
    from torchlint.discovery import Discovery
    from torchlint.reporters.report import Report, Style
    from torchlint.runner import Action, Outcome, Task
    from torchlint.target import TorchVersion

CLEAN = 0
FINDINGS = 1
ERROR = 2
INTERRUPTED = 130

_STANDARD_INPUT = "-"

_CHECK_EPILOG = """\
commands:
  torchlint [check] PATH...  lint, and with --fix mend, files and directories
  torchlint rule CODE        show the page of a rule; with --all, the table of all rules
  torchlint prove [CODE...]  run the rules' hazard programs, before and after the fix
  torchlint explain-kind FILE:ROW:COLUMN
                             show what is known of an expression, and why: to find where a false alarm comes from

examples:
  torchlint src/                          lint all Python files below src
  torchlint --fix src/ train.py           apply the safe fixes as well
  torchlint --diff --unsafe-fixes src/    show what all fixes together would change
  torchlint --select TPL0,TPL101 src/     only the rules whose codes start so
  torchlint --ignore TPL002 .             the default rules but one
  torchlint --output-format json . > findings.json
  torchlint --stdin-filename model.py - < model.py

silencing:
  x = y.data  # noqa: TPL002              this finding on this line (without a code: all)
  # torchlint: noqa                       on a line of its own: everything in the file

exit codes:
  0  nothing found, or everything fixed
  1  findings are left (with --diff: something would change)
  2  wrong use, or some file could not be read, parsed or written
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with ``arguments``, by default those of the process; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        _never_refuse_characters(stream)
    try:
        code = _dispatch(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_standard_output()
        return FINDINGS
    except OSError as error:  # of the working directory, or of where the output goes: files have their own errors
        _silence_standard_output()
        return _refuse(error.strerror or str(error))
    return code


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case ["rule", *rest]:
            return _rule(_rule_parser().parse_args(rest))
        case ["prove", *rest]:
            from torchlint.proof import main as prove

            return prove(rest)
        case ["explain-kind", *rest]:
            return _explain_kind(_explain_kind_parser().parse_args(rest))
        case ["check", *rest]:
            return _check(_check_options(rest))
        case _:
            return _check(_check_options(arguments))


# --- arguments -------------------------------------------------------------------------------------------------------


def _check_options(arguments: list[str]) -> argparse.Namespace:
    """The options; paths may stand between them, and whatever follows ``--`` is a path."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = _check_parser().parse_intermixed_args(arguments[:end])
    options.paths += arguments[end + 1 :]
    return options


def _check_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torchlint",
        usage="torchlint [check] [options] [PATH ...]",
        description="Finds what PyTorch code gets wrong silently, and mends it.",
        epilog=_CHECK_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and directories; - is standard input (default: the working directory)"
    )
    parser.add_argument("--version", action="version", version=f"torchlint {__version__}")
    _add_fix_options(parser.add_argument_group("fixes"))
    _add_rule_options(parser.add_argument_group("rules"))
    _add_file_options(parser.add_argument_group("files and configuration"))
    _add_output_options(parser.add_argument_group("output"))
    _add_run_options(parser.add_argument_group("running"))
    return parser


def _add_fix_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fix", action="store_true", help="apply the safe fixes")
    group.add_argument("--unsafe-fixes", action="store_true", help="count fixes that may change results among those to apply")
    group.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    group.add_argument("--fixable", action="append", metavar="CODES", help="the rules whose fixes are applied (default: all)")
    group.add_argument("--unfixable", action="append", metavar="CODES", help="rules whose fixes are not applied")


def _add_rule_options(group: argparse._ArgumentGroup) -> None:
    for option, explanation in (
        ("--select", "the rules to run, in place of the default ones: codes, prefixes of codes, or ALL"),
        ("--ignore", "rules not to run"),
        ("--extend-select", "rules to run besides"),
    ):
        group.add_argument(option, action="append", metavar="CODES", help=f"{explanation}; comma-separated or repeated")
    group.add_argument(
        "--target-torch",
        type=_torch_version,
        metavar="VERSION",
        help="the oldest torch that the code has to run on, as in 1.13 (default: the newest)",
    )


def _add_file_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--config", metavar="FILE", help="the configuration file, in place of the nearest one up the tree")
    group.add_argument("--isolated", action="store_true", help="read no configuration file")
    group.add_argument("--exclude", action="append", metavar="PATTERNS", help="files and directories to leave out")
    group.add_argument(
        "--extend-exclude", action="append", metavar="PATTERNS", help="files and directories to leave out besides"
    )
    group.add_argument("--force-exclude", action="store_true", help="leave out what is excluded even if it is given as a PATH")
    group.add_argument(
        "--respect-gitignore",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="leave out what .gitignore files name (default: yes)",
    )
    group.add_argument("--show-files", action="store_true", help="list the files that would be linted, and end")
    group.add_argument("--show-settings", action="store_true", help="show the settings for PATH, and end")


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", choices=FORMATS, help="how findings are written (default: full)")
    group.add_argument("-e", "--exit-zero", action="store_true", help="exit with 0 even if there are findings")


def _add_run_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--stdin-filename", metavar="NAME", help="what reports call the standard input")
    group.add_argument(
        "-j", "--jobs", type=_job_count, metavar="N", default=None, help="processes to use (default: one for each processor)"
    )
    group.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help="where the cache is (default: .torchlint_cache)")


def _rule_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="torchlint rule", description="Shows what a rule finds, and why.", allow_abbrev=False)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("code", nargs="?", metavar="CODE", help="the rule, as in TPL001")
    which.add_argument("--all", action="store_true", help="list all rules")
    return parser


def _explain_kind_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="torchlint explain-kind",
        description="Shows what torchlint knows of the innermost expression at a place, and why.",
        allow_abbrev=False,
    )
    parser.add_argument("place", metavar="FILE:ROW:COLUMN", help="row and column from 1, as reports give them")
    return parser


def _torch_version(text: str) -> TorchVersion:
    from torchlint.target import TorchVersion

    try:
        return TorchVersion.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _job_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a number of processes: {text!r}")
    return int(text)


# --- rule ------------------------------------------------------------------------------------------------------------


def _rule(options: argparse.Namespace) -> int:
    from torchlint.documentation import table
    from torchlint.rule_pages import page
    from torchlint.rules import all_rules
    from torchlint.selection import SelectionError, find_rule

    if options.all:
        sys.stdout.write(table(all_rules()))
        return CLEAN
    try:
        sys.stdout.write(page(find_rule(options.code)))
    except SelectionError as error:
        return _refuse(str(error))
    return CLEAN


def _explain_kind(options: argparse.Namespace) -> int:
    from torchlint.diagnostic import Location
    from torchlint.semantics.explain import explain
    from torchlint.source import Source, SourceError

    path, row, column = [*options.place.rsplit(":", 2), "", ""][:3]
    if not (row.isdecimal() and column.isdecimal()):
        return _refuse(f"not of the form FILE:ROW:COLUMN: {options.place}")
    try:
        with open(path, "rb") as file:
            print(explain(Source.decode(file.read(), path), Location(int(row), int(column))))
    except OSError as error:
        return _refuse(f"{path}: {error.strerror or error}")
    except (SourceError, LookupError) as error:
        return _refuse(str(error.args[0]))
    return CLEAN


# --- check -----------------------------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    from torchlint.config import ConfigError
    from torchlint.selection import SelectionError

    try:
        resolver = _resolver(options)
        if options.show_settings:
            return _show_settings(options, resolver)
        if _STANDARD_INPUT in options.paths:
            return _check_standard_input(options, resolver)
        return _check_files(options, resolver)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return ERROR
    except (SelectionError, ValueError) as error:
        return _refuse(str(error))


def _resolver(options: argparse.Namespace) -> Resolver:
    """Finds the settings for files; raises `SelectionError` or `ConfigError`."""
    from torchlint.config import Resolver, Selection, Settings, overridden, read_settings
    from torchlint.selection import codes_in, select_rules

    codes = {name: tuple(codes_in(getattr(options, name) or ())) for name in ("select", "ignore", "extend_select")}
    selection = Selection(None if options.select is None else codes["select"], codes["ignore"], codes["extend_select"])
    select_rules(selection.select, selection.ignore, selection.extend_select)
    values = {
        "target_torch": options.target_torch,
        "output_format": options.output_format,
        "respect_gitignore": options.respect_gitignore,
        **{name: tuple(codes_in(given)) for name in ("fixable", "unfixable") if (given := getattr(options, name))},
        **{name: tuple(codes_in(given)) for name in ("exclude", "extend_exclude") if (given := getattr(options, name))},
    }
    select_rules((*values.get("fixable", ()), *values.get("unfixable", ())))

    def overrides(settings: Settings) -> Settings:
        return overridden(settings, selection, values)

    if options.isolated:
        return Resolver(overrides(Settings(os.getcwd())))
    if options.config is not None:
        return Resolver(overrides(read_settings(options.config) or Settings(os.getcwd())))
    return Resolver(overrides=overrides)


def _show_settings(options: argparse.Namespace, resolver: Resolver) -> int:
    from torchlint.config import shown

    path = os.path.abspath(options.paths[0] if options.paths else os.curdir)
    sys.stdout.write(shown(resolver.of_directory(path if os.path.isdir(path) else os.path.dirname(path))))
    return CLEAN


def _check_files(options: argparse.Namespace, resolver: Resolver) -> int:
    from torchlint.discovery import discover
    from torchlint.runner import run

    discovery = discover(options.paths or [os.curdir], resolver, force_exclude=options.force_exclude)
    if options.show_files:
        sys.stderr.writelines(f"{error}\n" for error in discovery.errors)
        sys.stdout.writelines(f"{file}\n" for file in discovery.files)
        return ERROR if discovery.errors else CLEAN
    if not discovery.files and not discovery.errors:
        print("warning: no Python files found under the given paths", file=sys.stderr)
    outcomes: list[Outcome] = []
    jobs = options.jobs or _processors()
    for settings, files in _by_settings(discovery):
        task = _task(options, settings)
        outcomes += run(files, task, jobs=jobs, cache=_cache(options, task, settings))
    return _report(outcomes, discovery.errors, options, resolver, sys.stdout)


def _by_settings(discovery: Discovery) -> Iterable[tuple[Settings, list[str]]]:
    """The files in groups that have the same settings."""
    groups: dict[int, tuple[Settings, list[str]]] = {}
    for file in discovery.files:
        settings = discovery.settings[file]
        groups.setdefault(id(settings), (settings, []))[1].append(file)
    return groups.values()


def _check_standard_input(options: argparse.Namespace, resolver: Resolver) -> int:
    from torchlint.runner import NOTHING, Action, examine

    if len(options.paths) > 1:
        return _refuse("standard input (`-`) cannot be linted together with other paths")
    path = os.path.abspath(options.stdin_filename or _STANDARD_INPUT)
    settings = resolver.of_directory(os.path.dirname(path))
    task = _task(options, settings)
    data = sys.stdin.buffer.read()
    left_out = options.stdin_filename and options.force_exclude and settings.excluded.match_inside(path)
    outcome = NOTHING if left_out else examine(data, options.stdin_filename or _STANDARD_INPUT, task)
    if task.action is not Action.FIX:
        return _report([outcome], (), options, resolver, sys.stdout)
    sys.stdout.buffer.write(data if outcome.replacement is None else outcome.replacement)
    return _report([outcome], (), options, resolver, sys.stderr)


def _task(options: argparse.Namespace, settings: Settings) -> Task:
    from torchlint.runner import Task

    return Task(settings.rules, _action(options), _applicability(options), settings.options, settings)


def _action(options: argparse.Namespace) -> Action:
    from torchlint.runner import Action

    return Action.DIFF if options.diff else Action.FIX if options.fix else Action.LINT


def _applicability(options: argparse.Namespace) -> Applicability:
    from torchlint.diagnostic import Applicability

    return Applicability.UNSAFE if options.unsafe_fixes else Applicability.SAFE


def _cache(options: argparse.Namespace, task: Task, settings: Settings) -> Cache | None:
    from torchlint.cache import FOLDER, Cache, settings_key
    from torchlint.runner import Action

    if options.no_cache or task.action is not Action.LINT:
        return None
    folder = options.cache_dir or settings.cache_dir or FOLDER
    ignores = repr(settings.per_file_ignores and (settings.root, settings.per_file_ignores))
    return Cache(folder, settings_key((rule.code for rule in task.rules), repr(task.options), ignores))


def _report(
    outcomes: Sequence[Outcome],
    errors: Sequence[FileError],
    options: argparse.Namespace,
    resolver: Resolver,
    stream: TextIO,
) -> int:
    """Writes what the run came to; returns the exit code."""
    from torchlint.reporters import render
    from torchlint.reporters.report import Report

    report = Report(
        [diagnostic for outcome in outcomes for diagnostic in outcome.diagnostics],
        [*errors, *(error for outcome in outcomes for error in outcome.errors)],
        sum(outcome.fixed for outcome in outcomes),
        _applicability(options),
    )
    sys.stderr.writelines(f"{error}\n" for error in report.errors)
    if options.diff:
        return _show_diffs(outcomes, report, options)
    output_format = resolver.of_directory(os.getcwd()).output_format
    stream.writelines(render(output_format, report, _style(stream)))
    return _exit_code(report, findings=bool(report.diagnostics), options=options)


def _show_diffs(outcomes: Sequence[Outcome], report: Report, options: argparse.Namespace) -> int:
    from torchlint.reporters.summary import would_fix

    sys.stdout.writelines(outcome.diff for outcome in outcomes)
    sys.stdout.flush()
    sys.stderr.write(would_fix(report))
    return _exit_code(report, findings=any(outcome.diff for outcome in outcomes), options=options)


def _exit_code(report: Report, *, findings: bool, options: argparse.Namespace) -> int:
    if report.errors:
        return ERROR
    return FINDINGS if findings and not options.exit_zero else CLEAN


def _refuse(message: str) -> int:
    print(f"torchlint: error: {message}", file=sys.stderr)
    return ERROR


# --- the process -----------------------------------------------------------------------------------------------------


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _style(stream: TextIO) -> Style:
    from torchlint.reporters.report import Style

    if os.environ.get("NO_COLOR"):
        return Style()
    return Style(colour=bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb"))


def _never_refuse_characters(stream: TextIO) -> None:
    """Has ``stream`` write an escape for what its encoding lacks, file names that are not text among it."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _silence_standard_output() -> None:
    """Keeps the interpreter from complaining at exit that what is still buffered has no reader."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
