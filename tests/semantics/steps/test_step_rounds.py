"""The order of the acts of a round: whether the second marked call may be done after the first, avoiding those of one kind."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.steps.acts import Act, Acts, Deed
from torchlint.semantics.steps.rounds import Placed, Round, Rounds


def rounds(snippet: str) -> tuple[list[Round], list[ast.Call]]:
    head = "import torch\nfrom torch import optim\nfrom torch.nn.utils import clip_grad_norm_\n"
    semantics, nodes = marked(head + snippet)
    return semantics.of(Rounds).whole, [node for node in nodes if isinstance(node, ast.Call)]


def act(round_: Round, call: ast.Call) -> Placed:
    (found,) = [placed for placed in round_.acts if placed.act.call is call]
    return found


def may_follow(snippet: str, *avoiding: Deed) -> bool:
    (round_,), (one, other) = rounds(snippet)
    return round_.may_follow(act(round_, one), act(round_, other), avoiding=round_.of(*avoiding))


LOOP = """
def train(model, optimizer, loader):
    for x in loader:
        optimizer.zero_grad()
        «model(x).sum().backward()»
        «optimizer.step()»
"""


def test_acts_of_one_block_follow_one_another() -> None:
    assert may_follow(LOOP, Deed.ZERO)


def test_what_stands_between_is_not_passed() -> None:
    between = LOOP.replace("        «optimizer", "        optimizer.zero_grad()\n        «optimizer")
    assert not may_follow(between, Deed.ZERO)


HELPERS = """
class Trainer:
    def run(self, loader):
        for x in loader:
            self.start(x)
            self.finish()
    def start(self, x):
        self.optimizer.zero_grad()
        «self.model(x).sum().backward()»
        {behind}
    def finish(self):
        {before}
        «self.optimizer.step()»
"""


@pytest.mark.parametrize(
    ("behind", "before", "follows"),
    [
        ("pass", "pass", True),
        ("self.optimizer.zero_grad()", "pass", False),
        ("pass", "self.optimizer.zero_grad()", False),
        ("if x: self.optimizer.zero_grad()", "pass", True),
        ("pass", "self.wipe()", True),
    ],
)
def test_functions_of_the_file_are_entered(behind: str, before: str, follows: bool) -> None:
    assert may_follow(HELPERS.format(behind=behind, before=before), Deed.ZERO) is follows


def test_a_function_between_counts_only_where_it_cannot_but_act() -> None:
    snippet = """
def train(model, optimizer, loader):
    for x in loader:
        «model(x).sum().backward()»
        wipe(optimizer, x)
        «optimizer.step()»
def wipe(optimizer, x):
    {wipe}
"""
    assert not may_follow(snippet.format(wipe="optimizer.zero_grad()"), Deed.ZERO)
    assert may_follow(snippet.format(wipe="if x: optimizer.zero_grad()"), Deed.ZERO)


def test_a_closure_is_run_by_the_step() -> None:
    snippet = """
def train(model, optimizer, x):
    def closure():
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        return loss
    optimizer.step(closure)
"""
    (round_,), _ = rounds(snippet.replace("optimizer, x):", "x):\n    optimizer = optim.LBFGS(model.parameters())"))
    assert sorted(placed.act.deed.name for placed in round_.acts) == ["BACKWARD", "STEP", "ZERO"]
    assert len({placed.place for placed in round_.acts}) == 1


def test_acts_are_told_by_what_they_act_on() -> None:
    snippet = """
def train(model, scheduler, standard, x):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler()
    scaler.scale(model(x).sum()).backward()
    standard.scale(x)
    clip_grad_norm_(model.parameters(), 1)
    scaler.step(optimizer)
    scaler.update()
    standard.update(x)
    scheduler.step()
"""
    semantics, _ = marked("import torch\nfrom torch import optim\nfrom torch.nn.utils import clip_grad_norm_\n" + snippet)
    found: list[Act] = semantics.of(Acts).all
    assert [each.deed.name for each in found] == ["BACKWARD", "CLIP", "STEP", "UPDATE", "SCHEDULE"]
    assert [each.scaler is not None for each in found] == [True, False, True, True, False]
    assert found[1].models == ("model",)


@pytest.mark.parametrize(("library", "acts"), [("deepspeed", 0), ("colossalai", 0), ("apex", 1)])
def test_engines_act_by_themselves(library: str, acts: int) -> None:
    """Not so apex: it scales losses, and its optimizers step when they are told to."""
    semantics, _ = marked(f"import torch, {library}\nloss = torch.ones(1, requires_grad=True).sum()\nloss.backward()\n")
    assert len(semantics.of(Acts).all) == acts


@pytest.mark.parametrize("library", ["deepspeed", "apex"])
def test_the_acts_of_a_loop_are_there_whatever_acts_besides(library: str) -> None:
    semantics, (backward, step) = marked(f"import torch\nimport {library}\n{LOOP}")
    (loop,) = semantics.tree.of_type(ast.For)
    round_ = semantics.of(Rounds).of_loop(loop)
    assert [placed.act.call for placed in round_.of(Deed.BACKWARD, Deed.STEP)] == [backward, step]
