"""What can stand behind ``torchlint``: the parsers of its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from torchlint import __version__
from torchlint.cli.terminal import WHEN
from torchlint.reporters import FOR_PEOPLE, FORMATS

if TYPE_CHECKING:
    from torchlint.target import TorchVersion

T = TypeVar("T")

_CHECK_EPILOG = """\
commands:
  torchlint [check] PATH...  lint, and with --fix mend, files and directories, notebooks among them
  torchlint rule CODE        show the page of a rule; with --all, the table of all rules
  torchlint prove [CODE...]  run the rules' hazard programs, before and after the fix
  torchlint test-rule CODE   run the fixture folder of a rule, one of a plugin perhaps
  torchlint explain-kind FILE:ROW:COLUMN
                             show what is known of an expression, and why: to find where a false alarm comes from
  torchlint server           serve an editor by the language server protocol
  torchlint generate-shell-completion SHELL
                             write the script that has bash, zsh, fish, powershell or tcsh complete the options

examples:
  torchlint src/                          lint all Python files and notebooks below src
  torchlint --fix src/ train.ipynb        apply the safe fixes as well
  torchlint --diff --unsafe-fixes src/    show what all fixes together would change
  torchlint --select TPL0,TPL101 src/     only the rules whose codes start so
  torchlint --ignore TPL002 .             the default rules but one
  torchlint --target-torch 1.13 .         code that has to run on torch 1.13, too
  torchlint --output-format sarif -o findings.sarif .
  torchlint --stdin-filename model.py - < model.py
  torchlint --watch src/                  again whenever a file changes

silencing:
  x = y.data  # noqa: TPL002              this finding on this line (without a code: all)
  # torchlint: noqa                       on a line of its own: everything in the file
  torchlint --add-noqa .                  a comment for each finding that there is
  torchlint --write-baseline known.json . what is there today; then --baseline known.json reports what is new

configuration:
  [tool.torchlint] in pyproject.toml, or torchlint.toml, nearest to the file up its tree, with the keys
  required-version, extend, plugins, select, ignore, extend-select, per-file-ignores, fixable, unfixable, exclude,
  extend-exclude, include, respect-gitignore, max-file-size, timeout-per-file, project-root, target-torch, accumulate-with,
  output-format, exit-nonzero-on and cache-dir; options go before it, and --config 'KEY = VALUE' between the two

exit codes:
  0  nothing found, or everything fixed
  1  findings are left (with --diff: something would change)
  2  wrong use, a configuration that makes no sense, or some file could not be read, parsed or written
"""


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong on one line, with nothing in it that a terminal would act upon."""

    def error(self, message: str) -> NoReturn:
        from torchlint.diagnostic import printable

        super().error(printable(message))


_APART = {
    "add_noqa": ("fix", "fix_only", "diff", "ignore_noqa", "show_fixes", "statistics", "write_baseline", "watch"),
    "write_baseline": ("fix", "fix_only", "diff", "watch"),
    "stdin_filename": ("watch", "show_files"),
}
"""Options that ask for different things."""


def check_options(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of ``torchlint check``; paths may stand between them, and whatever follows ``--`` is a path."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = check_parser()
    options, unknown = parser.parse_known_intermixed_args(arguments[:end])
    if unknown:
        from torchlint.config.keys import nearest

        option = unknown[0].partition("=")[0]
        known = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
        longer = [name for name in known if name.startswith(option)]
        names = {name.lstrip("-"): name for name in known}  # which share nothing but the hyphens
        ending = [name for name in known if name.endswith(f"-{option.lstrip('-')}")]
        meant = longer[:1] or (ending if len(ending) == 1 else [option])
        close = nearest(meant[0].lstrip("-").replace("_", "-"), names, cutoff=0.7)
        parser.error(f"unrecognized argument: {option}{close.replace('`', '`--', 1)}")
    for one, others in _APART.items():
        for other in others:
            if getattr(options, one) and getattr(options, other):
                parser.error(f"--{one.replace('_', '-')} and --{other.replace('_', '-')} cannot be used together")
    if options.statistics and options.output_format not in (None, *FOR_PEOPLE, "json"):
        parser.error(f"--statistics cannot be written as {options.output_format}; choose {', '.join(FOR_PEOPLE)} or json")
    if options.select is not None and not "".join(options.select).strip(", "):
        parser.error("argument --select: no code is given, and nothing would be looked for")
    options.paths += arguments[end + 1 :]
    return options


def whole_parser() -> argparse.ArgumentParser:
    """Everything in one, with the codes of the rules where codes are due: for shells to complete, not to parse with."""
    import shtab

    from torchlint.config.files import settings_here

    parsers = {
        "check": check_parser(),
        "rule": rule_parser(),
        "prove": prove_parser(),
        "test-rule": test_rule_parser(),
        "explain-kind": explain_kind_parser(),
        "server": server_parser(),
        "generate-shell-completion": completion_parser(),
    }
    known = settings_here().known
    codes = [*(rule.code for rule in known), *(rule.name for rule in known)]
    for parser in parsers.values():
        for action in parser._actions:
            if action.metavar in ("CODE", "CODES"):
                action.choices = codes
            elif action.metavar in ("PATH", "FILE", "DIR", "FILE:ROW:COLUMN"):
                action.complete = shtab.DIR if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    whole = argparse.ArgumentParser(prog="torchlint")
    commands = whole.add_subparsers()
    for name, parser in parsers.items():
        commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    for action in parsers["check"]._actions:
        if action.option_strings and action.dest != "help":
            whole._add_action(action)
    return whole


def check_parser() -> argparse.ArgumentParser:
    parser = _Parser(
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
    _add_silencing_options(parser.add_argument_group("silencing"))
    _add_run_options(parser.add_argument_group("running"))
    return parser


def _add_fix_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--fix", action="store_true", help="apply the safe fixes")
    group.add_argument("--fix-only", action="store_true", help="apply the fixes, and report and fail by nothing that is left")
    group.add_argument("--unsafe-fixes", action="store_true", help="count fixes that may change results among those to apply")
    group.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    group.add_argument("--show-fixes", action="store_true", help="say what was fixed where")
    group.add_argument("--fixable", action="append", metavar="CODES", help="the rules whose fixes are applied (default: all)")
    group.add_argument("--unfixable", action="append", metavar="CODES", help="rules whose fixes are not applied")
    group.add_argument(
        "--accumulate-with",
        choices=("item", "detach"),
        help="what takes a loss out of its graph where either is right (default: item, or detach where TPL402 is selected)",
    )


def _add_rule_options(group: argparse._ArgumentGroup) -> None:
    for option, explanation in (
        (
            "--select",
            "the rules to run, in place of the default ones: codes, prefixes of codes, names, or strict, which is all of them",
        ),
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
    group.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="the configuration file, in place of the nearest one up the tree; or a setting, as in 'target-torch = \"1.13\"'",
    )
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
    group.add_argument(
        "--timeout-per-file",
        type=_seconds,
        metavar="SECONDS",
        help="the processor time after which a file is given up; 0 is no limit (default: 60; not on Windows)",
    )
    group.add_argument(
        "--max-file-size", type=_size, metavar="SIZE", help="the size from which on files are refused (default: 10MB)"
    )
    group.add_argument("--show-files", action="store_true", help="list the files that would be linted, and end")
    group.add_argument("--show-settings", action="store_true", help="show the settings for PATH, and end")
    group.add_argument(
        "--bug-report",
        action="store_true",
        help="print what a bug report needs, versions and settings and nothing private, and end",
    )


def _add_output_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", choices=FORMATS, help="how findings are written (default: full)")
    group.add_argument(
        "--color", choices=WHEN, default="auto", help="whether to write in colours (default: auto, which is on terminals)"
    )
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the report to FILE")
    group.add_argument(
        "-q", "--quiet", action="store_true", help="write the findings and nothing besides: no summary, no progress"
    )
    group.add_argument("--statistics", action="store_true", help="show how many findings each rule has")
    group.add_argument("-e", "--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    group.add_argument(
        "--exit-nonzero-on",
        choices=("error", "warning"),
        help="how bad a finding has to be for the run to fail (default: warning, which is all findings)",
    )


def _add_silencing_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--ignore-noqa", action="store_true", help="report what noqa comments silence, too")
    group.add_argument("--add-noqa", action="store_true", help="add a noqa comment for each finding")
    group.add_argument("--baseline", metavar="FILE", help="report only what is not in this baseline")
    group.add_argument("--write-baseline", metavar="FILE", help="write a baseline that knows all findings")


def _add_run_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--stdin-filename", metavar="NAME", help="what reports call the standard input")
    group.add_argument(
        "-j", "--jobs", type=_job_count, metavar="N", default=None, help="processes to use (default: one for each processor)"
    )
    group.add_argument("-w", "--watch", action="store_true", help="run again whenever a file changes")
    group.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help="where the cache is (default: .torchlint_cache)")
    _add_project_options(group)


def _add_project_options(group: argparse._ActionsContainer) -> None:
    project = group.add_mutually_exclusive_group()
    project.add_argument(
        "--project-root",
        metavar="DIR",
        help="the folder of whose files imports are followed (default: that of pyproject.toml or .git)",
    )
    project.add_argument("--no-project", action="store_true", help="lint each file alone, and follow no import")


def rule_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="torchlint rule", description="Shows what a rule finds, and why.", allow_abbrev=False)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("code", nargs="?", metavar="CODE", help="the rule, as in TPL001 or data-mutation")
    which.add_argument("--all", action="store_true", help="list all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="text (the default) or json")
    return parser


def prove_parser() -> argparse.ArgumentParser:
    from pathlib import Path

    parser = _Parser(
        prog="torchlint prove",
        description="Runs each rule's hazard program, applies the rule's fix to it, and runs it again.",
    )
    parser.add_argument("codes", nargs="*", metavar="CODE", help="rules to prove, by code or prefix (all rules by default)")
    parser.add_argument(
        "--device",
        choices=["auto", "cpu", "cuda"],
        default="auto",
        help="where to run; auto is the CPU, and CUDA where there is one",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was seen, and on what, to FILE")
    return parser


def test_rule_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="torchlint test-rule",
        description="Checks rules against their fixture folders: bad.py, fixed.py, good.py and hazard.py.",
        allow_abbrev=False,
    )
    parser.add_argument("codes", nargs="+", metavar="CODE", help="the rules to test: codes, or prefixes of codes")
    parser.add_argument(
        "--fixtures", metavar="DIR", default="fixtures", help="where the rules' folders are (default: fixtures)"
    )
    parser.add_argument(
        "--plugin", action="append", default=[], metavar="MODULE", help="an installed package whose rules are meant, too"
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="where hazard.py runs (default: cpu)")
    return parser


def completion_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="torchlint generate-shell-completion",
        description="Writes the script that has a shell complete torchlint's options.",
        epilog="bash: torchlint generate-shell-completion bash > ~/.local/share/bash-completion/completions/torchlint",
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "powershell", "tcsh"))
    return parser


def server_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="torchlint server",
        description="Serves an editor by the language server protocol (pip install 'torchlint[server]').",
        allow_abbrev=False,
    )
    parser.add_argument("--stdio", action="store_true", help="serve on the standard streams, as is done without it")
    return parser


def explain_kind_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="torchlint explain-kind",
        description="Shows what torchlint knows of the innermost expression at a place, and why.",
        allow_abbrev=False,
    )
    parser.add_argument("place", metavar="FILE:ROW:COLUMN", help="row and column from 1, as reports give them")
    _add_project_options(parser)
    return parser


def _torch_version(text: str) -> TorchVersion:
    from torchlint.target import TorchVersion

    return _parsed(TorchVersion.parse, text)


def _size(text: str) -> int:
    from torchlint.text.reading import parse_size

    return _parsed(parse_size, text)


def _seconds(text: str) -> float:
    from torchlint.config.keys import seconds

    def parse(text: str) -> float:
        try:
            return seconds(float(text))
        except ValueError:
            raise ValueError(f"not a number of seconds: {text!r}") from None

    return _parsed(parse, text)


def _parsed(parse: Callable[[str], T], text: str) -> T:
    """What ``parse`` makes of an option's value; its `ValueError` is what the user is told."""
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _job_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a number of processes: {text!r}")
    return int(text)
