"""``torchlint test-rule``: runs a rule's fixture folder, for the authors of rules."""

from __future__ import annotations

import argparse
import importlib.util
from functools import partial
from pathlib import Path

from torchlint.cli.exits import CLEAN, FINDINGS, refuse
from torchlint.config.files import settings_here
from torchlint.proof.fixtures import FILES, Outcome, RuleTest, folder_of
from torchlint.rules import all_rules
from torchlint.rules.plugins import PluginError
from torchlint.rules.selection import SelectionError, select_rules

_refuse = partial(refuse, start="torchlint test-rule")


def show(options: argparse.Namespace) -> int:
    """``torchlint test-rule`` with these options: a line for each thing that a rule was asked to show, what is wrong below it.

    Returns 0 if all is well, 1 if something is not, 2 for wrong use or a folder that is missing.
    """
    try:
        rules = select_rules(options.codes, among=all_rules((*settings_here().plugins, *options.plugin)))
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
    return CLEAN if passed else FINDINGS


def _show(outcome: Outcome) -> None:
    verdict = "FAILED" if outcome.problems else f"skipped: {outcome.skipped}" if outcome.skipped else "ok"
    print(f"  {outcome.what}: {verdict}")
    for problem in outcome.problems:
        print(f"    {problem}")
