"""Optimizers of unknown kind: of each snippet, whether the marked call is taken for a step of one."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.steps.training_steps import TrainingSteps
from torchlint.semantics.training.likely_optimizers import LikelyOptimizers


def stepped(text: str) -> str | None:
    """The optimizer of the marked call."""
    semantics, (call,) = marked("import torch\n" + text)
    assert isinstance(call, ast.Call)
    found = semantics.of(LikelyOptimizers).steps(call)
    assert [step.call for step in semantics.of(TrainingSteps).likely_steps] == ([call] if found is not None else [])
    return ast.unparse(found) if found is not None else None


@pytest.mark.parametrize(
    "name", ["optimizer", "optim", "opt", "opt_g", "d_opt", "optimizerD", "optimG", "self.optimizer", "netOpt", "G_optimiser"]
)
def test_the_name_tells(name: str) -> None:
    given = f"def train({name.partition('.')[0]}, scaler): "
    assert stepped(f"{given}«{name}.step()»") == name
    assert stepped(f"{given}«scaler.step({name})»") == name


@pytest.mark.parametrize(
    "name",
    ["env", "options", "scheduler", "lr_opt", "opt_scheduler", "optimizers", "engine", "model", "opts", "adopt", "optical"],
)
def test_what_is_called_otherwise_is_left_alone(name: str) -> None:
    assert stepped(f"«{name}.step()»") is None
    assert stepped(f"«scaler.step({name})»") is None


def test_what_is_made_of_parameters_is_an_optimizer() -> None:
    assert stepped("ranger = Ranger(model.parameters(), lr=0.1)\n«ranger.step()»") == "ranger"
    assert stepped("ranger = Ranger(model, lr=0.1)\n«ranger.step()»") is None
    assert stepped("if x:\n    ranger = Ranger(model.parameters())\nelse:\n    ranger = None\n«ranger.step()»") is None


def test_what_holds_several_counts_where_the_file_zeroes_it() -> None:
    assert stepped("optimizers.zero_grad()\n«optimizers.step()»") == "optimizers"
    assert stepped("others.zero_grad()\n«optimizers.step()»") is None


@pytest.mark.parametrize(
    "text",
    [
        "optimizer.collect()\n«optimizer.step()»",  # what has other methods may zero in its step
        "import deepspeed\n«optimizer.step()»",
        "«optimizer.step(batch_size)»",
        "«env.step(optimizer)»",
        "optimizer = 3\n«optimizer.step()»",
        "class Noam:\n    def step(self): pass\noptimizer = Noam()\n«optimizer.step()»",
    ],
)
def test_what_may_be_something_else_is_left_alone(text: str) -> None:
    assert stepped(text) is None


def test_an_optimizer_of_torch_is_a_certain_step() -> None:
    semantics, (call,) = marked("import torch\noptimizer = torch.optim.Adam(model.parameters())\n«optimizer.step()»")
    assert [step.call for step in semantics.of(TrainingSteps).steps] == [call]
    assert semantics.of(TrainingSteps).likely_steps == []
