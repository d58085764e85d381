"""Snapshots that are kept across an update: of each snippet, whether the marked expression takes one."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.kept_snapshots import KeptSnapshot, KeptSnapshots

HEAD = """\
import copy
import torch
from torch import nn, optim
model = nn.Linear(2, 2)
optimizer = optim.SGD(model.parameters(), lr=0.1)
w = nn.Parameter(torch.zeros(3))
"""
STEP = "\noptimizer.step()\n"
CHANGE = "\nwith torch.no_grad():\n    w.add_(1)\n"
LOOP = "for x in range(3):\n    optimizer.step()\n"


def kept(snippet: str) -> KeptSnapshot[ast.AST] | None:
    semantics, (node,) = marked(HEAD + snippet)
    found = semantics.of(KeptSnapshots).found.get(node, [])
    assert len(found) < 2
    return found[0] if found else None


@pytest.mark.parametrize(
    ("snippet", "name"),
    [
        (f"before = «model.state_dict()»{STEP}model.load_state_dict(before)", "before"),
        (f"best, n = «model.state_dict()», 1{STEP}model.load_state_dict(best)", "best"),
        (f"best: dict = «model.state_dict()»{STEP}model.load_state_dict(best)", "best"),
        (f"kept = {{}}\nkept['m'] = «model.state_dict()»{STEP}model.load_state_dict(kept['m'])", "kept['m']"),
        (f"kept = {{'m': «model.state_dict()», 'e': 1}}{STEP}model.load_state_dict(kept['m'])", "kept"),
        (f"best = None\n{LOOP}    if x:\n        best = «model.state_dict()»\nmodel.load_state_dict(best)", "best"),
        (f"history = []\n{LOOP}    history.append(«model.state_dict()»)\nprint(history)", "history"),
        (
            f"old = «[p.data for p in model.parameters()]»{STEP}for a, b in zip(old, model.parameters()):\n    print(a - b)",
            "old",
        ),
        (f"before = «model.state_dict()['weight']»{STEP}print(before)", "before"),
        (f"{LOOP}    if x:\n        best_model = «model»\ntorch.save(best_model.state_dict(), 'x')", "best_model"),
    ],
)
def test_across_a_step(snippet: str, name: str) -> None:
    found = kept(snippet)
    assert found is not None
    assert found.update is not None
    assert (found.source, found.name, ast.unparse(found.update)) == ("model", name, "optimizer.step()")


@pytest.mark.parametrize("value", ["w.detach()", "w.data", "w.detach().numpy()", "w.detach().cpu()"])
def test_across_a_change_in_place(value: str) -> None:
    found = kept(f"old = «{value}»{CHANGE}print((w - old).norm())")
    assert found is not None
    assert found.update is not None
    assert (found.source, ast.unparse(found.update), found.on_cpu) == ("w", "w.add_(1)", value.endswith("cpu()"))


@pytest.mark.parametrize(
    "snippet",
    [
        f"before = «copy.deepcopy(model.state_dict())»{STEP}model.load_state_dict(before)",
        "before = «model.state_dict()»\nmodel.load_state_dict(before)",
        f"before = «model.state_dict()»\ntorch.save(before, 'x'){STEP}",
        f"before = «model.state_dict()»\nbefore = 1{STEP}print(before)",
        f"before = «model.state_dict()»\nmodel = nn.Linear(2, 2){STEP}model.load_state_dict(before)",
        f"kept = {{'m': «model.state_dict()», 'e': 1}}{STEP}print(kept['e'])",
        f"history = []\nhistory.append(«model.state_dict()»){STEP}",
        f"{LOOP}    history = []\n    history.append(«model.state_dict()»)\n    print(history)",
    ],
)
def test_a_copy_or_nothing_comes_in_between(snippet: str) -> None:
    assert kept(snippet) is None


@pytest.mark.parametrize("use", ["old.keys()", "len(old)", "old is None", "'weight' in old"])
def test_without_its_values(use: str) -> None:
    assert kept(f"old = «model.state_dict()»{STEP}print({use})") is None


@pytest.mark.parametrize(
    ("use", "is_read"),
    [
        ("for name in before:\n    print(name)", False),
        ("print({name: value.shape for name, value in before.items()})", False),
        ("print({name: value.sum() for name, value in before.items()})", True),
        ("for name in before:\n    print(before[name])", True),
    ],
)
def test_names_and_shapes_are_no_values(use: str, is_read: bool) -> None:
    assert (kept(f"before = «model.state_dict()»{STEP}{use}") is not None) is is_read


def test_another_module_that_is_to_follow() -> None:
    snippet = "shared = «model.state_dict()»\nfor x in range(3):\n    optimizer.step()\n    {}.load_state_dict(shared)"
    assert kept(snippet.format("worker")) is None
    assert kept(snippet.format("model")) is not None


def test_another_tensor_is_changed() -> None:
    assert kept(f"old = «w.detach()»{STEP}print((w - old).norm())") is None


def test_a_name_that_says_nothing_of_the_past() -> None:
    assert kept(f"y = «w.detach()»{CHANGE}print(y)") is None
    assert kept(f"y = «w.detach()»{CHANGE}print(w - y)") is not None


def test_an_optimizer_has_no_state_before_its_first_step() -> None:
    snippet = f"before = «optimizer.state_dict()»{STEP}optimizer.load_state_dict(before)"
    assert kept(snippet) is None
    assert kept(f"optimizer.step()\n{snippet}") is not None


def in_trainer(keep: str, back: str = "") -> KeptSnapshot[ast.AST] | None:
    """What an attribute of a trainer keeps, and what another method does with it."""
    methods = f"  def keep(self, score):\n    {keep}\n  def back(self):\n    {back or 'pass'}"
    return kept(f"class Trainer:\n  def __init__(self):\n    self.model = nn.Linear(2, 2)\n{methods}")


def test_an_attribute_that_another_method_restores() -> None:
    take = "self.saved = «self.model.state_dict()»"
    found = in_trainer(take, "self.model.load_state_dict(self.saved)")
    assert found is not None
    assert (found.source, found.name, found.update) == ("self.model", "self.saved", None)
    assert in_trainer(take, "print(self.saved)") is None
    assert in_trainer(take, "self.saved['a'] = 1\n    self.model.load_state_dict(self.saved)") is None


def test_an_attribute_that_is_called_the_best_so_far() -> None:
    assert in_trainer("if score:\n      self.best = «self.model.state_dict()»") is not None
    assert in_trainer("self.best = «self.model.state_dict()»") is None


def test_an_attribute_that_is_only_asked_whether_it_is_there() -> None:
    keep = "if score:\n      self.best = «self.model.state_dict()»\n    "
    assert in_trainer(f"{keep}if self.best is None:\n      print(score)") is not None
    assert in_trainer(f"{keep}torch.save(self.best, 'best.pt')") is None


@pytest.mark.parametrize(("method", "is_found"), [("get_parameters", True), ("params", True), ("parametrize", False)])
def test_what_has_parameters_by_a_name_of_its_own(method: str, is_found: bool) -> None:
    loop = f"thing = make()\nopt = torch.optim.SGD(thing.{method}())\nfor epoch in range(9):\n    opt.step()\n"
    snippet = f"{loop}    if score():\n        best = «thing.state_dict()»\nthing.load_state_dict(best)"
    assert (kept(snippet) is not None) == is_found


@pytest.mark.parametrize(
    ("loop", "condition", "is_kept"),
    [
        ("for epoch in range(epochs)", "epoch % 5 == 0 or epoch == epochs - 1", False),
        ("for epoch in range(epochs)", "path and ((epoch + 1) % 5 == 0 or (epoch + 1) == epochs)", False),
        ("for epoch in tqdm(range(first, epochs))", "epoch % 5 == 0 or epoch + 1 == epochs", False),
        ("for epoch in range(epochs)", "epoch % 5 == 0", True),
        ("for epoch in range(epochs)", "epoch % 5 == 0 or epoch == epochs", True),
        ("for epoch in range(epochs)", "better(epoch) and (epoch % 5 == 0 or epoch == epochs - 1)", True),
        ("for epoch in range(first, epochs)", "epoch % 5 == 0 or epoch + 1 == first", True),
        ("for epoch in tqdm(rounds)", "epoch % 5 == 0 or epoch == epochs - 1", True),
    ],
)
def test_what_the_last_round_takes_is_of_the_end(loop: str, condition: str, is_kept: bool) -> None:
    text = f"def train(path, first, epochs, rounds):\n    {loop}:\n        {{0}}optimizer.step()\n        if {condition}:\n"
    text += "            point = {{'model': «model.state_dict()»}}\n            keep(point, path)\n{1}    return point"
    found = kept(text.format("", ""))
    assert (found is not None) is is_kept
    assert kept(text.format("if stop(epoch):\n            break\n        ", "")) is not None
    assert kept(text.format("", "        print(epoch)\n        optimizer.step()\n")) is not None


FLAGGED = """\
for x in range(9):
    optimizer.step()
{clear}    if x > best:
        {set}
        state = {{'m': «model.state_dict()»}}
    if improved:
        torch.save(state, 'best.pt')
"""


@pytest.mark.parametrize(
    ("clear", "set_", "is_kept"),
    [
        ("    improved = False\n", "improved = True", False),
        ("", "improved = True", True),  # what was found once is saved in each round
        ("    improved = x > 3\n", "improved = True", True),
        ("    improved = False\n    if x > 5:\n        improved = True\n", "improved = True", True),
        ("    other = False\n", "other = True", True),
    ],
)
def test_what_is_saved_under_a_flag_that_is_set_with_it_is_of_the_same_round(clear: str, set_: str, is_kept: bool) -> None:
    snippet = "best, improved = 0, False\n" + FLAGGED.format(clear=clear, set=set_)
    assert (kept(snippet) is not None) is is_kept


@pytest.mark.parametrize(
    ("holder", "is_kept"),
    [
        ("torch.zeros(4, 3)", False),  # an item of a tensor gets the numbers
        ("numpy.zeros((4, 3))", False),
        ("{}", True),
        ("[None] * 4", True),
    ],
)
def test_an_item_of_a_tensor_is_a_copy(holder: str, is_kept: bool) -> None:
    value = "«w.data»"
    snippet = f"import numpy\nbest = {holder}\nbest[0] = {value}{CHANGE}print(best[0] - w)"
    assert (kept(snippet) is not None) is is_kept


@pytest.mark.parametrize(
    ("made", "device", "is_copied"),
    [
        ("nn.Linear(2, 2).cuda()", "'cuda'", True),
        ("nn.Linear(2, 2).to(device)", "torch.device('cuda:0')", True),
        ("nn.Linear(2, 2).to(device=device).eval()", "'cuda'", True),
        ("nn.Linear(2, 2).to('cuda:1')", "None", True),
        ("nn.Linear(2, 2).to(device)", "'cuda' if torch.cuda.is_available() else 'cpu'", False),
        ("nn.Linear(2, 2).to(device)", "torch.device(args.device)", False),
        ("nn.Linear(2, 2).to(device)", "'cpu'", False),
        ("nn.Linear(2, 2).to(device).cpu()", "'cuda'", False),
        ("nn.Linear(2, 2)", "'cuda'", False),
        ("nn.Linear(2, 2).cuda()\nmodel.cpu()", "'cuda'", False),
        ("nn.Linear(2, 2).cuda()\nif x:\n    model = nn.Linear(2, 2)", "'cuda'", False),
        ("nn.Linear(2, 2).to(device)", "'cuda'\nif x:\n    device = 'cpu'", False),
    ],
)
def test_what_lies_on_a_gpu_is_copied_to_the_cpu(made: str, device: str, is_copied: bool) -> None:
    start = f"device = {device}\nmodel = {made}\noptimizer = torch.optim.SGD(model.parameters(), 1)\n"
    for value in ("model.weight.data.cpu()", "{k: v.cpu() for k, v in model.state_dict().items()}"):
        assert (kept(f"{start}before = «{value}»{STEP}print(before)") is None) is is_copied
    assert kept(f"{start}before = «model.weight.data»{STEP}print(before)") is not None
