"""The installed torch warns of nothing that the table lacks: its public callables are called, and what warns is looked up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from torchlint.semantics.apis.deprecations import deprecations

FOLDER = Path(__file__).parent / "deprecations"


WHOLE = os.environ.get("OBSERVE") == "all"
"""``OBSERVE=all`` has every namespace observed, which takes a minute; else those are that have most to say for their time."""
SAMPLE = (
    *("torch.Tensor", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.Module", "torch.optim.lr_scheduler"),
    *("torch.autograd", "torch.cuda", "torch.cuda.amp", "torch.cpu.amp", "torch.linalg", "torch.fft", "torch.special"),
    *("torch.utils.checkpoint", "torch.utils.data", "torch.distributed", "torch.distributions", "torch.jit", "torch.onnx"),
    *("torch.ao.quantization", "torch.quantization", "torch.backends.cuda", "torch.random", "functorch"),
)


@dataclass(frozen=True)
class Run:
    """What was seen, what came of each namespace, and the names of which nothing can be said: they were late."""

    seen: list[dict[str, Any]]
    modules: dict[str, dict[str, Any]]

    @cached_property
    def late(self) -> frozenset[str]:
        return frozenset(name for each in self.modules.values() for name in each["late"])

    def tried(self, name: str) -> bool:
        """Whether something was found out of a name: its namespace came to its end, and no call of it was late."""
        return name not in self.late and any(
            name.rpartition(".")[0] in (each, *_INSTANCES.get(each, ())) for each in self.modules
        )


_INSTANCES = {
    "torch.optim.lr_scheduler": ("torch.optim.lr_scheduler.LRScheduler", "torch.optim.lr_scheduler.ReduceLROnPlateau"),
    "torch.optim": ("torch.optim.Optimizer",),
    "torch.distributions": ("torch.distributions.Distribution",),
    "torch.utils.data": ("torch.utils.data.DataLoader", "torch.utils.data.ConcatDataset"),
    "torch.autograd.profiler": ("torch.autograd.profiler.profile",),
    "torch.amp": ("torch.amp.GradScaler",),
}
"""Classes whose methods are observed with the namespace that they belong to."""


@pytest.fixture(scope="module")
def observed() -> Run:
    torch = pytest.importorskip("torch")
    pytest.importorskip("numpy")
    if not torch.__version__.startswith("2.13."):
        pytest.skip(f"the table is of torch 2.13, installed is {torch.__version__}")
    command = [sys.executable, str(FOLDER / "observed.py"), *(() if WHOLE else SAMPLE)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    counted = [json.loads(line) for line in run.stderr.splitlines() if line.startswith('{"module"')]
    return Run([json.loads(line) for line in run.stdout.splitlines()], {each["module"]: each for each in counted})


def test_the_table_has_what_torch_warns_of(observed: Run) -> None:
    assert len(observed.seen) > (190 if WHOLE else 110)
    table = deprecations()
    lacking = [f"{each['name']} {each['parameter']}: {each['message']}" for each in observed.seen if not _is_known(each)]
    assert lacking == [], "python tests/torch_api/deprecations/table.py WHEELS brings the table up to date"
    both = {(each["name"], each["parameter"]) for each in observed.seen}
    marked = {key for key, row in table.items() if row.found & {"observed", "quietly observed"} and observed.tried(key[0])}
    assert len(marked) > (190 if WHOLE else 110)
    assert marked <= both, "the table calls observed what warns no more"


def _is_known(seen: dict[str, Any]) -> bool:
    row = deprecations().get((seen["name"], seen["parameter"]))
    return row is not None and bool(row.found & {"observed", "quietly observed"})


def test_most_of_torch_is_called(observed: Run) -> None:
    assert len(observed.modules) == len(SAMPLE) or (WHOLE and len(observed.modules) > 40)
    assert sum(each["ran"] for each in observed.modules.values()) > (2000 if WHOLE else 1200)
    for name in ("torch.nn.init", "torch.fft", "torch.linalg", "torch.special", "torch.Tensor"):
        counts = observed.modules[name]
        assert counts["ran"] + len(counts["late"]) >= 0.9 * counts["there"], name


def test_what_behaves_otherwise_with_an_argument_is_told_apart(observed: Run) -> None:
    when = {(each["name"], each["parameter"]): each["when"] for each in observed.seen}
    expected = {
        ("torch.Tensor.qr", ""): "",
        ("torch.Tensor.cross", "dim"): "missing",
        ("torch.nn.functional.mse_loss", "size_average"): "given",
        ("torch.Tensor.adjoint", ""): "depends",
        ("torch.optim.lr_scheduler.LRScheduler.get_lr", ""): "",
    }
    assert {key: when[key] for key in expected if key[0] not in observed.late} == expected
    assert ("torch.linalg.qr", "") not in when and ("torch.zeros", "") not in when
