"""Runs the experiments on a device, records what came out, and writes docs/claims.md from the records.

`python tests/claims/audit.py` runs them on the CPU, with ``--device cuda`` on CUDA; ``--no-run`` just writes the page.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from claim import CLAIMS, DEVICES, NAMES, Claim

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "claims.md"

TITLES = {
    "000": "what copies, what shares, and in-place operations",
    "001": "`Tensor` and `Variable`, `.data` and `detach`, `loss.data[0]` and `loss.item()`",
    "002": "optimizers, freezing, arrays and tensors, memory that runs out",
    "003": "the computational graph, functions that change shapes, a model's modes",
    "004": "making tensors of arrays, `ModuleList`, `detach`, saving and loading",
}
_INTRODUCTION = """\
# The articles' claims

torchlint's first rules come from five articles about PyTorch, most of them of the time when it was young. They also state
facts, and some of these are not so. Here is every one, in our words, with whether it holds on the torch that torchlint is
tested with, and the experiment that tells. No rule rests on a claim that is false. [articles.md](articles.md) says which
pitfall of the articles became which rule.

This page is written by `python tests/claims/audit.py`; the test suite repeats every experiment.
"""


def all_claims() -> list[Claim]:
    """The claims of all articles, in their order."""
    for name in NAMES:
        importlib.import_module(f"article_{name}")
    return CLAIMS


def evidence_path(device: str) -> Path:
    """The file that holds what was found on ``device``."""
    return DOCS / "evidence" / "claims" / f"{device}.json"


def read_evidence(device: str) -> dict[str, Any] | None:
    """What was recorded on ``device``; None where the experiments have not been run."""
    path = evidence_path(device)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def run(device: str) -> dict[str, Any]:
    """Runs the experiments that make sense on ``device``; what was found, where and when."""
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else platform.machine()
    results = {claim.name: claim.experiment(device) for claim in all_claims() if device in claim.devices}
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": name,
        "date": datetime.now(UTC).date().isoformat(),
        "holds": results,
    }


def page(evidence: Mapping[str, Mapping[str, Any] | None]) -> str:
    """The page, from what was recorded on each device."""
    parts = [_INTRODUCTION, *(_provenance(device, evidence[device]) for device in DEVICES), "\n\n"]
    for article in NAMES:
        claims = [claim for claim in all_claims() if claim.article == article]
        parts.append(f"## Article {article}: {TITLES[article]}\n\n")
        parts.append("| | claim | on the CPU | on CUDA | bears on |\n| ---: | --- | --- | --- | --- |\n")
        parts += [_row(number, claim, evidence) for number, claim in enumerate(claims, 1)]
        parts.append("\n<details><summary>The experiments</summary>\n\n")
        parts += [f"{number}. {claim.text}\n\n```python\n{claim.body}\n```\n\n" for number, claim in enumerate(claims, 1)]
        parts.append("</details>\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def _provenance(device: str, evidence: Mapping[str, Any] | None) -> str:
    where = "the CPU" if device == "cpu" else "CUDA"
    if evidence is None:
        return f"\n- {where}: not run on {where}"
    holds = list(evidence["holds"].values())
    return (
        f"\n- {where}: torch {evidence['torch']}, Python {evidence['python']}, {evidence['device']}, {evidence['date']}: "
        f"{len(holds)} experiments, {holds.count(True)} claims true, {holds.count(False)} false"
    )


def _row(number: int, claim: Claim, evidence: Mapping[str, Mapping[str, Any] | None]) -> str:
    note = f" *{claim.note}*" if claim.note else ""
    verdicts = " | ".join(_verdict(claim, device, evidence[device]) for device in DEVICES)
    rules = ", ".join(f"[{code}](rules/{code}.md)" for code in claim.rules)
    return f'| <a id="{claim.name}"></a>{number} | {claim.text}{note} | {verdicts} | {rules} |\n'


def _verdict(claim: Claim, device: str, evidence: Mapping[str, Any] | None) -> str:
    if device not in claim.devices:
        return "–"
    if evidence is None:
        return "not run"
    return "true" if evidence["holds"][claim.name] else "**false**"


def main(arguments: Sequence[str]) -> int:
    """Runs, records and writes; the exit code is 1 where a claim came out otherwise than expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=DEVICES, default="cpu")
    parser.add_argument("--no-run", action="store_true", help="write the page from what was recorded before")
    options = parser.parse_args(arguments)
    surprises = []
    if not options.no_run:
        found = run(options.device)
        evidence_path(options.device).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        surprises = [claim.name for claim in all_claims() if found["holds"].get(claim.name, claim.holds) is not claim.holds]
    PAGE.write_text(page({device: read_evidence(device) for device in DEVICES}), encoding="utf-8")
    print("\n".join(f"unexpected: {name}" for name in surprises) or f"{len(all_claims())} claims: as expected")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
