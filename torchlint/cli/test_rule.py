"""``torchlint test-rule``: runs a rule's fixture folder, for the authors of rules."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from torchlint.proof.fixtures import FILES, Outcome, RuleTest, folder_of
from torchlint.rules.plugins import PluginError, named
from torchlint.rules.selection import SelectionError, select_rules

_PASSED, _FAILED, _WRONG = 0, 1, 2


def argument_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
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


def test_rule(arguments: Sequence[str]) -> int:
    """Runs the command: prints a line for each thing that a rule was asked to show, and what is wrong below it.

    Returns 0 if all is well, 1 if something is not, 2 for wrong use or a folder that is missing.
    """
    options = argument_parser().parse_args(arguments)
    try:
        for plugin in options.plugin:
            named(plugin)
        rules = select_rules(options.codes)
    except (PluginError, SelectionError) as error:
        return _refuse(str(error))
    device = options.device if importlib.util.find_spec("torch") is not None else None
    passed = True
    for rule in rules:
        folder = Path(options.fixtures) / folder_of(rule)
        for name in FILES:
            if not (folder / name).is_file():
                return _refuse(f"{folder / name}: no such file: {rule.code} has nothing to be tested with")
        print(f"{rule.code} {rule.name}")
        for outcome in RuleTest(rule, folder).outcomes(device):
            _show(outcome)
            passed = passed and not outcome.problems
    return _PASSED if passed else _FAILED


def _show(outcome: Outcome) -> None:
    verdict = "FAILED" if outcome.problems else f"skipped: {outcome.skipped}" if outcome.skipped else "ok"
    print(f"  {outcome.what}: {verdict}")
    for problem in outcome.problems:
        print(f"    {problem}")


def _refuse(message: str) -> int:
    print(f"torchlint test-rule: {message}", file=sys.stderr)
    return _WRONG
