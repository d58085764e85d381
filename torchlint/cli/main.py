"""The command: arguments, output and exit code.

What a subcommand needs is imported when it runs, so that `--version` and `--help` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from torchlint.cli.arguments import check_options, completion_parser, explain_kind_parser, rule_parser, whole_parser

CLEAN = 0
FINDINGS = 1
ERROR = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with ``arguments``, by default those of the process; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _fill_closed_streams()
    if sys.stdout is None:
        return refuse("the standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        _never_refuse_characters(stream)
    try:
        code = _dispatched(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_standard_output()
        return FINDINGS
    except OSError as error:  # of the working directory, or of where the output goes: files have their own errors
        _silence_standard_output()
        return refuse(error.strerror or str(error))
    return code


def _dispatched(arguments: list[str]) -> int:
    try:
        return _dispatch(arguments)
    except SystemExit:  # of argparse, which does not look at what becomes of its output
        sys.stdout.flush()
        raise


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case ["rule", *rest]:
            return _rule(rule_parser().parse_args(rest))
        case ["prove", *rest]:
            from torchlint.proof.hazards import main as prove

            return prove(rest)
        case ["generate-shell-completion", *rest]:
            return _complete(completion_parser().parse_args(rest))
        case ["explain-kind", *rest]:
            return _explain_kind(explain_kind_parser().parse_args(rest))
        case ["check", *rest]:
            return _check(rest)
        case _:
            return _check(arguments)


def _check(arguments: list[str]) -> int:
    options = check_options(arguments)
    from torchlint.cli.check import check

    return check(options)


# --- rule ------------------------------------------------------------------------------------------------------------


def _rule(options: argparse.Namespace) -> int:
    from torchlint.cli.rule_pages import described, page
    from torchlint.rules import all_rules
    from torchlint.rules.documentation import table
    from torchlint.rules.selection import SelectionError, find_rule

    try:
        rules = all_rules() if options.all else (find_rule(options.code),)
    except SelectionError as error:
        return refuse(str(error))
    if options.output_format == "json":
        import json

        descriptions = [described(rule) for rule in rules]
        sys.stdout.write(json.dumps(descriptions if options.all else descriptions[0], indent=2) + "\n")
    else:
        sys.stdout.write(table(rules) if options.all else page(rules[0]))
    return CLEAN


def _complete(options: argparse.Namespace) -> int:
    import shtab

    sys.stdout.write(shtab.complete(whole_parser(), options.shell) + "\n")
    return CLEAN


def _explain_kind(options: argparse.Namespace) -> int:
    from torchlint.cli.explain_kind import explain
    from torchlint.diagnostic import Location
    from torchlint.text.source import Source, SourceError

    path, row, column = [*options.place.rsplit(":", 2), "", ""][:3]
    if not (row.isdecimal() and column.isdecimal()):
        return refuse(f"not of the form FILE:ROW:COLUMN: {options.place}")
    try:
        with open(path, "rb") as file:
            print(explain(Source.decode(file.read(), path), Location(int(row), int(column))))
    except OSError as error:
        return refuse(f"{path}: {error.strerror or error}")
    except (SourceError, LookupError) as error:
        return refuse(str(error.args[0]))
    return CLEAN


def refuse(message: str) -> int:
    """Says in one line on the standard error why nothing is done; returns the exit code."""
    print(f"torchlint: error: {message}", file=sys.stderr)
    return ERROR


# --- the process -----------------------------------------------------------------------------------------------------


def _never_refuse_characters(stream: TextIO) -> None:
    """Has ``stream`` write an escape for what its encoding lacks, file names that are not text among it."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _fill_closed_streams() -> None:
    """Opens the null device for each standard stream that is closed, lest a file that is opened take its place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _silence_standard_output() -> None:
    """Keeps the interpreter from complaining at exit that what is still buffered has no reader."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
