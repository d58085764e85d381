"""The command: arguments, output and exit code.

What a subcommand needs is imported when it runs, so that `--version` and `--help` answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from torchlint.cli.arguments import (
    check_options,
    completion_parser,
    explain_kind_parser,
    prove_parser,
    rule_parser,
    server_parser,
    test_rule_parser,
    whole_parser,
)
from torchlint.cli.exits import CLEAN, ERROR, FINDINGS, INTERRUPTED, refuse


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
            options = rule_parser().parse_args(rest)
            from torchlint.cli.rule_pages import show as run
        case ["prove", *rest]:
            options = prove_parser().parse_args(rest)
            from torchlint.cli.prove import show as run
        case ["test-rule", *rest]:
            options = test_rule_parser().parse_args(rest)
            from torchlint.cli.test_rule import show as run
        case ["explain-kind", *rest]:
            options = explain_kind_parser().parse_args(rest)
            from torchlint.cli.explain_kind import show as run
        case ["server", *rest]:
            options = server_parser().parse_args(rest)
            from torchlint.cli.server import serve as run
        case ["generate-shell-completion", *rest]:
            options, run = completion_parser().parse_args(rest), _complete
        case [word, *_] if meant := _command_meant(word):
            return refuse(f"{word}: no such file or directory, and no command; did you mean `torchlint {meant}`?")
        case _:
            options = check_options(arguments[1:] if arguments[:1] == ["check"] else arguments)
            from torchlint.cli.check import check as run
    from torchlint.config.files import ConfigError
    from torchlint.rules.plugins import PluginError

    try:
        return run(options)
    except ConfigError as error:
        print(error, file=sys.stderr)  # which is a `FileError`, and printable
        return ERROR
    except PluginError as error:
        return refuse(str(error))


_COMMANDS = ("check", "rule", "prove", "test-rule", "explain-kind", "server", "generate-shell-completion")
_IN_OTHER_WORDS = {"lint": "check", "explain": "rule", "lsp": "server", "help": "--help", "version": "--version"}
"""What other programs call what torchlint has."""


def _command_meant(word: str) -> str:
    """The command or option that a first argument stands for that is neither a path nor a command; empty if none is."""
    if _is_code(word) and not os.path.lexists(word):
        return f"rule {word}"
    if not word.replace("-", "").isalpha() or word.startswith("-") or word in _COMMANDS or os.path.lexists(word):
        return ""
    from difflib import get_close_matches

    near = get_close_matches(word, _COMMANDS, n=1, cutoff=0.8)
    return _IN_OTHER_WORDS.get(word) or (near[0] if near else "")


def _is_code(word: str) -> bool:
    """Whether a word is made as the code of a rule is."""
    return word[:-3].isalpha() and word.isupper() and word[-3:].isdigit()


def _complete(options: argparse.Namespace) -> int:
    import shtab

    sys.stdout.write(shtab.complete(whole_parser(), options.shell) + "\n")
    return CLEAN


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
