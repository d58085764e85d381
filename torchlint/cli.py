"""The command: arguments, output and exit code.

What a subcommand needs is imported when it runs, so that `--version` and `--help` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from torchlint import __version__
from torchlint.reporters import FORMATS

if TYPE_CHECKING:
    from torchlint.cache import Cache
    from torchlint.diagnostic import FileError
    from torchlint.reporters.report import Report, Style
    from torchlint.runner import Outcome, Task

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
    _add_output_options(parser.add_argument_group("output"))
    _add_run_options(parser.add_argument_group("running"))
    return parser


def _add_fix_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fix", action="store_true", help="apply the safe fixes")
    group.add_argument("--unsafe-fixes", action="store_true", help="count fixes that may change results among those to apply")
    group.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")


def _add_rule_options(group: argparse._ArgumentGroup) -> None:
    for option, explanation in (
        ("--select", "the rules to run, in place of the default ones: codes, prefixes of codes, or ALL"),
        ("--ignore", "rules not to run"),
        ("--extend-select", "rules to run besides"),
    ):
        group.add_argument(option, action="append", metavar="CODES", help=f"{explanation}; comma-separated or repeated")


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", choices=FORMATS, default="full", help="how findings are written (default: full)")
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
    from torchlint.diagnostic import Applicability
    from torchlint.runner import Action, Task
    from torchlint.selection import SelectionError, codes_in, select_rules

    try:
        rules = select_rules(
            None if options.select is None else codes_in(options.select),
            codes_in(options.ignore or ()),
            codes_in(options.extend_select or ()),
        )
    except SelectionError as error:
        return _refuse(str(error))
    action = Action.DIFF if options.diff else Action.FIX if options.fix else Action.LINT
    task = Task(rules, action, Applicability.UNSAFE if options.unsafe_fixes else Applicability.SAFE)
    if _STANDARD_INPUT not in options.paths:
        return _check_files(options, task)
    if len(options.paths) > 1:
        return _refuse("standard input (`-`) cannot be linted together with other paths")
    return _check_standard_input(options, task)


def _check_files(options: argparse.Namespace, task: Task) -> int:
    from torchlint.discovery import discover
    from torchlint.runner import run

    discovery = discover(options.paths or [os.curdir])
    if not discovery.files and not discovery.errors:
        print("warning: no Python files found under the given paths", file=sys.stderr)
    outcomes = run(discovery.files, task, jobs=options.jobs or _processors(), cache=_cache(options, task))
    return _report(outcomes, discovery.errors, options, task, sys.stdout)


def _check_standard_input(options: argparse.Namespace, task: Task) -> int:
    from torchlint.runner import Action, examine

    data = sys.stdin.buffer.read()
    outcome = examine(data, options.stdin_filename or _STANDARD_INPUT, task)
    if task.action is not Action.FIX:
        return _report([outcome], (), options, task, sys.stdout)
    sys.stdout.buffer.write(data if outcome.replacement is None else outcome.replacement)
    return _report([outcome], (), options, task, sys.stderr)


def _cache(options: argparse.Namespace, task: Task) -> Cache | None:
    from torchlint.cache import FOLDER, Cache, settings_key
    from torchlint.runner import Action

    if options.no_cache or task.action is not Action.LINT:
        return None
    return Cache(options.cache_dir or FOLDER, settings_key(rule.code for rule in task.rules))


def _report(
    outcomes: Sequence[Outcome], errors: Sequence[FileError], options: argparse.Namespace, task: Task, stream: TextIO
) -> int:
    """Writes what the run came to; returns the exit code."""
    from torchlint.reporters import render
    from torchlint.reporters.report import Report
    from torchlint.runner import Action

    report = Report(
        [diagnostic for outcome in outcomes for diagnostic in outcome.diagnostics],
        [*errors, *(error for outcome in outcomes for error in outcome.errors)],
        sum(outcome.fixed for outcome in outcomes),
        task.applicability,
    )
    sys.stderr.writelines(f"{error}\n" for error in report.errors)
    if task.action is Action.DIFF:
        return _show_diffs(outcomes, report, options)
    stream.writelines(render(options.output_format, report, _style(stream)))
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
