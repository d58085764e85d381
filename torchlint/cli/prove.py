"""``torchlint prove``: the rules' hazard programs are run, and what was seen is shown and recorded."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial

from torchlint import __version__
from torchlint.cli.exits import CLEAN, FINDINGS, refuse
from torchlint.config.files import settings_here
from torchlint.proof.hazards import Proof, fixtures_folder, prove
from torchlint.proof.table import table
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import SelectionError, select_rules

NO_TORCH = "this command runs PyTorch, which is not installed here: pip install torch numpy"
_refuse = partial(refuse, start="torchlint prove")


def show(options: argparse.Namespace) -> int:
    """``torchlint prove`` with these options: prints the table and returns the exit code.

    0: all proven; 1: at least one is not; 2: wrong use, or torch or the device is missing.
    """
    try:
        rules = provable(select_rules(options.codes or ["ALL"], among=settings_here().known), asked=bool(options.codes))
    except SelectionError as error:
        return _refuse(f"{error}")
    if not fixtures_folder().is_dir():
        return _refuse(f"the hazard programs are missing: there is no folder {fixtures_folder()}")
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return _refuse(NO_TORCH)
    cuda = torch.cuda.is_available()
    without_cuda = f"torch {torch.__version__} sees no CUDA device here"
    if options.device == "cuda" and not cuda:
        return _refuse(f"not run on CUDA: {without_cuda}")

    devices = {"cpu": ["cpu"], "cuda": ["cuda"], "auto": ["cpu", "cuda"] if cuda else ["cpu"]}[options.device]
    proofs = [prove(rule, device) for device in devices for rule in rules]
    print(table(proofs, shutil.get_terminal_size((120, 24)).columns))
    if options.device == "auto" and not cuda:
        print(f"Not run on CUDA: {without_cuda}.")
    if options.json:
        try:
            options.json.write_text(record(proofs, devices) + "\n", encoding="utf-8")
        except OSError as error:
            return _refuse(f"cannot write {options.json}: {error.strerror}")
    return CLEAN if all(proof.passed for proof in proofs) else FINDINGS


def provable(rules: Sequence[Entry], *, asked: bool = False) -> list[Entry]:
    """Those of ``rules`` that have a hazard program here; raises `SelectionError` where none does.

    The programs of plugins are in folders of their own: rules that were ``asked`` for cannot be of one.
    """
    if asked and (codes := [rule.code for rule in rules if rule.plugin]):
        raise SelectionError(
            f"{', '.join(codes)}: of a plugin, whose fixtures are not here; `torchlint test-rule {codes[0]}` runs its program"
        )
    rules = [rule for rule in rules if not rule.plugin]
    found = [rule for rule in rules if rule.proven]
    if not found:
        raise SelectionError(f"{', '.join(rule.code for rule in rules)} is about the text alone: there is nothing to run")
    return found


def record(proofs: Sequence[Proof], devices: Sequence[str]) -> str:
    """The proofs as JSON, with what they were run on: the format of ``docs/evidence/``."""
    torch = importlib.import_module("torch")
    names = {"cpu": platform.machine(), "cuda": torch.cuda.get_device_name() if "cuda" in devices else None}
    content = {
        "torchlint": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "devices": {device: names[device] if device in devices else "not run" for device in ("cpu", "cuda")},
        "proofs": [{key: value for key, value in asdict(proof).items() if key != "fixed_text"} for proof in proofs],
    }
    return json.dumps(content, indent=2, default=str)
