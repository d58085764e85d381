"""The installed torch warns of nothing that the table lacks: its public callables are called, and what warns is looked up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.semantics.apis.deprecations import deprecations

FOLDER = Path(__file__).parent / "deprecations"


@pytest.fixture(scope="module")
def observed() -> tuple[list[dict[str, str]], str]:
    """What was seen, and how much of each module ran."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("numpy")
    if not torch.__version__.startswith("2.13."):
        pytest.skip(f"the table is of torch 2.13, installed is {torch.__version__}")
    run = subprocess.run([sys.executable, str(FOLDER / "observed.py")], capture_output=True, encoding="utf-8", check=True)
    return [json.loads(line) for line in run.stdout.splitlines()], run.stderr


def test_the_table_has_what_torch_warns_of(observed: tuple[list[dict[str, str]], str]) -> None:
    seen, _ = observed
    assert len(seen) > 190
    table = deprecations()
    lacking = [f"{each['name']} {each['parameter']}: {each['message']}" for each in seen if not _is_known(each)]
    assert lacking == [], "python tests/torch_api/deprecations/table.py WHEELS brings the table up to date"
    both = {(each["name"], each["parameter"]) for each in seen}
    marked = {key for key, row in table.items() if row.found & {"observed", "quietly observed"}}
    assert marked <= both, "the table calls observed what warns no more"


def _is_known(seen: dict[str, str]) -> bool:
    row = deprecations().get((seen["name"], seen["parameter"]))
    return row is not None and bool(row.found & {"observed", "quietly observed"})


def test_most_of_torch_is_called(observed: tuple[list[dict[str, str]], str]) -> None:
    ran = {line.partition(":")[0]: [int(word) for word in line.split() if word.isdigit()] for line in observed[1].splitlines()}
    modules = {name: counts for name, counts in ran.items() if len(counts) == 2}
    assert len(modules) > 40
    assert sum(counts[0] for counts in modules.values()) > 2000
    for name in ("torch.nn.init", "torch.fft", "torch.linalg", "torch.special", "torch.Tensor", "torch.nn"):
        some, of = modules[name]
        assert some >= 0.9 * of, name


def test_what_behaves_otherwise_with_an_argument_is_told_apart(observed: tuple[list[dict[str, str]], str]) -> None:
    when = {(each["name"], each["parameter"]): each["when"] for each in observed[0]}
    assert when["torch.qr", ""] == ""
    assert when["torch.meshgrid", "indexing"] == "missing"
    assert when["torch.nn.functional.mse_loss", "size_average"] == "given"
    assert when["torch.adjoint", ""] == "depends"
    assert ("torch.linalg.qr", "") not in when and ("torch.zeros", "") not in when
