"""Schedules that are moved on too early, never, or in other units than they count: the marked calls, or none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from marked import marked
from torchlint.api import fix, lint
from torchlint.semantics.schedules.early import EarlySchedules
from torchlint.semantics.schedules.idle import IdleSchedules
from torchlint.semantics.schedules.units import Schedules

HEAD = """
import torch
from torch import optim
from torch.optim import lr_scheduler
from elsewhere import helper
def train(model, train_loader, epochs, args):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scheduler = {scheduler}
    for epoch in range(epochs):
        {first}
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            {batch}
        {last}
"""
STEP = "scheduler.step()"


def snippet(
    scheduler: str = "lr_scheduler.StepLR(optimizer, 10)", first: str = "pass", batch: str = "pass", last: str = "pass"
) -> str:
    return HEAD.format(scheduler=scheduler, first=first, batch=batch, last=last)


def early(text: str) -> list[tuple[bool, bool]]:
    """Of each call that comes too early, whether it can be moved, and whether it is made in each batch."""
    semantics, nodes = marked(text)
    found = semantics.of(EarlySchedules).found
    assert list(found) == nodes
    return [(isinstance(each.behind, ast.stmt), each.is_batch) for each in found.values()]


def test_first_in_the_loop() -> None:
    assert early(snippet(first=f"«{STEP}»", last="print(epoch)")) == [(True, False)]
    assert early(snippet(first=f"«{STEP}»", last="if epoch: break")) == [(False, False)]


TRAINER = """
class Trainer:
    def __init__(self, net, optimizer, scheduler=None):
        self.net, self.optimizer = net, optimizer
        self.scheduler = scheduler

    def train(self, loader):
        for x in loader:
            self.optimizer.zero_grad()
            self.net(x).sum().backward()
            self.optimizer.step()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            if self.scheduler is not None:
                {step}
            self.train(loader)
"""


def test_what_an_object_of_the_file_is_made_with() -> None:
    made = "import torch\noptimizer = torch.optim.SGD(ps)\nTrainer(net, optimizer, {})"
    step = TRAINER.format(step="«self.scheduler.step()»")
    assert early(step + made.format("torch.optim.lr_scheduler.StepLR(optimizer, 3)")) == [(False, False)]
    assert early(TRAINER.format(step="self.scheduler.step()") + made.format("optimizer")) == []


def test_first_in_a_function_of_the_loop() -> None:
    calls = snippet(first="one_epoch(scheduler, optimizer, x)", batch="continue") + (
        "def one_epoch(scheduler, optimizer, x):\n    «scheduler.step()»\n    x.sum().backward()\n    optimizer.step()\n"
    )
    without = calls.replace("            optimizer.step()\n", "")
    assert early(without) == [(False, False)]


@pytest.mark.parametrize(
    "text",
    [
        snippet(last=STEP),
        snippet(batch=STEP),
        snippet(first=f"if epoch: {STEP}"),
        snippet(first="scheduler.step(epoch)"),
        snippet("lr_scheduler.ReduceLROnPlateau(optimizer)", first="scheduler.step(args.loss)"),
        snippet("helper(optimizer)", first=STEP),
        snippet(first=STEP).replace("    for epoch", "    optimizer.step()\n    for epoch"),
    ],
)
def test_behind_the_first_step_or_not_known_to_be_before(text: str) -> None:
    assert early(text) == []


CALLED = """
from torch import optim
from torch.optim import lr_scheduler
class Trainer:
    def __init__(self, net, args, plain=False):
        self.args, self.net, self.plain, self.begun = args, net, plain, False
        self.losses = []
        self.inner = optim.SGD(net.parameters(), 0.1)
        self.rates = lr_scheduler.StepLR(self.inner, 10)
    def one_epoch(self, loader, epoch, rates, before=None):
        if {test}:
            {step}
        for x in loader:
            self.inner.zero_grad()
            self.net(x).sum().backward()
            self.inner.step()
            {batch}
    def fit(self, loader):
        for epoch in range(10):
            self.one_epoch(loader, epoch, self.rates, {given})
"""


def called(test: str, batch: str = "pass", given: str = "None", is_found: bool = False) -> list[tuple[bool, bool]]:
    step = "«self.rates.step()»" if is_found else "self.rates.step()"
    return early(CALLED.format(test=test, step=step, batch=batch, given=given))


@pytest.mark.parametrize(
    "test",
    [
        "self.args.scheduled",
        "not self.args.plain",
        "self.plain",
        "self.rates is not None",
        "self.args.kind == 'step'",
        "self.args.scheduled and self.rates is not None",
        "self.args.kind in ('step', 'cosine')",
    ],
)
def test_under_an_option_in_a_function_of_the_loop(test: str) -> None:
    assert called(test, is_found=True) == [(False, False)]


@pytest.mark.parametrize(
    ("test", "batch"),
    [
        ("epoch", "pass"),
        ("epoch > self.args.warm_up", "pass"),
        ("before", "pass"),
        ("before is not None", "pass"),
        ("self.begun", "pass"),
        ("self.epoch > 0", "pass"),
        ("self.elsewhere", "pass"),
        ("self.losses", "self.losses.append(x)"),
        ("self.plain", "self.plain = True"),
        ("self.args.scheduled", "self.args.scheduled = True"),
        ("self.args['on']", "self.args['on'] = True"),
        ("len(self.losses)", "pass"),
        ("self.is_late()", "pass"),
        ("some_global", "pass"),
        ("self.args.best", "pass"),
        ("self.args.kind", "self.args = x"),
        ("self.kept", "pass"),
        ("self.net.training", "pass"),
        ("self.inner.state", "pass"),
        ("self.plain", "setattr(self, 'plain', 1)"),
        ("self.plain", "self.callback(self)"),
        ("loader", "pass"),
    ],
)
def test_under_what_may_not_hold_in_the_first_round(test: str, batch: str) -> None:
    assert called(test, batch) == []


def test_given_by_a_choice() -> None:
    assert called("self.args.scheduled", given="None if epoch else 3") == []


OPENED = """
def train(model, train_loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    losses, state = [], {{"on": False}}
    for epoch in range(9):
        if {test}:
            {step}
        for x in train_loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        {last}
def other(args):
    global begun
    begun = True
    args.late = True
"""


@pytest.mark.parametrize(
    ("test", "last", "is_found"),
    [
        ("args.cosine", "pass", True),
        ("scheduler is not None", "pass", True),
        ("losses", "losses.append(x)", False),
        ("state['on']", "state['on'] = True", False),
        ("begun", "other(args)", False),
        ("args.late", "other(args)", False),
        ("args.late", "args.late = True", False),
        ("args.optim and not args.plain", "pass", True),
        ("args['cosine']", "pass", True),
        ("cfg.train.cosine == 'x'", "pass", True),
        ("DECAY", "pass", True),
        ("FILLED", "pass", False),
        ("args.best_acc is not None", "pass", False),
        ("args['epoch']", "pass", False),
        ("model.weight.grad is not None", "pass", False),
        ("model.training", "pass", False),
        ("optimizer.state", "pass", False),
        ("optimizer._opt_called", "pass", False),
        ("opt.state", "pass", False),
        ("losses", "helper(losses)", False),
        ("state['on']", "helper(state)", False),
        ("tracker.go", "tracker.mark()", False),
        ("flags.moved", "pass", False),
        ("flags.MOVED", "pass", True),
        ("go", "go.fill_(True)", False),
        ("model", "pass", False),
    ],
)
def test_conditions_that_the_rounds_change(test: str, last: str, is_found: bool) -> None:
    step = f"«{STEP}»" if is_found else STEP
    head = "import torch, flags\nfrom settings import cfg\ngo = torch.zeros(1)\nDECAY = True\nFILLED = []\n"
    assert bool(early(head + OPENED.format(test=test, step=step, last=last))) is is_found


DECAYING = """
import torch
{imports}
class Trainer({base}):
    def __init__(self, model, decays, decay=True):
        self.model, self.optimizer = model, torch.optim.SGD(model.parameters(), 0.1)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 3)
        self.{name} = {value}
    def fit(self, loader):
        for epoch in range(3):
            if self.{name}:
                self.scheduler.step()
            for x in loader:
                self.model(x).sum().backward()
                self.optimizer.step()
    {more}
"""


def is_kept(
    name: str = "decays", value: str = "decays", more: str = "", base: str = "", imports: str = "", root: Path | None = None
) -> bool:
    text = DECAYING.format(name=name, value=value, more=more, base=base, imports=imports)
    path = str((root or Path()) / "trainer.py")
    if root is not None:
        Path(path).write_text(text)
    return bool(lint(text, filename=path, select=["TPL321"], project_root=str(root) if root is not None else None))


@pytest.mark.parametrize(
    ("name", "value", "more", "expected"),
    [
        ("decays", "decays", "", True),
        ("decays", "decay.always", "", True),
        ("decays", "True", "", True),
        ("decays", "[]", "", False),
        ("decays", "make(decays)", "", False),
        ("validated", "False", "def end(self):\n        self.validated = True", False),
        ("validated", "False", "def end(self):\n        setattr(self, 'validated', True)", False),
        ("validated", "False", "def end(self):\n        self.__dict__['validated'] = True", False),
        ("decays", "decays", "def end(self):\n        self.callback.on_end(self)", False),
        ("decays", "decays", "def end(self):\n        isinstance(self, int)", True),
        ("best", "None", "", False),
        ("warm", "None", "", False),
    ],
)
def test_what_an_object_keeps(name: str, value: str, more: str, expected: bool) -> None:
    assert is_kept(name, value, more) is expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("class Base:\n    def end(self):\n        self.decays = True", False),
        ("class Base:\n    def end(self):\n        self.others = True", True),
        ("class Base:\n    pass\ndef end(trainer):\n    trainer.decays = True", False),
    ],
)
def test_what_other_files_change_of_an_object(tmp_path: Path, other: str, expected: bool) -> None:
    (tmp_path / "base.py").write_text(other)
    assert is_kept(base="Base", imports="from base import Base", root=tmp_path) is expected
    assert not is_kept(base="Base", imports="from base import Base"), "nobody knows the base"


@pytest.mark.parametrize(("call", "expected"), [("evaluate(args)", False), ("evaluate(model)", True)])
def test_options_that_another_file_sets(tmp_path: Path, call: str, expected: bool) -> None:
    (tmp_path / "util.py").write_text("def evaluate(args):\n    args.cosine = True\n")
    text = "import torch\nfrom util import evaluate\n" + OPENED.format(test="args.cosine", step=STEP, last=call)
    path = tmp_path / "main.py"
    path.write_text(text)
    assert bool(lint(text, filename=str(path), select=["TPL321"], project_root=str(tmp_path))) is expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("scheduler.step()", "print(epoch)\n        scheduler.step()"),
        ("scheduler.step()  # move on", "        # move on\n        for x in"),
        ("scheduler.step(\n            # inner\n        )", ""),
    ],
)
def test_comments_at_a_call_that_is_moved(before: str, after: str) -> None:
    text = snippet(first=before, last="print(epoch)")
    (found,) = lint(text, select=["TPL321"])
    assert bool(found.fix) is bool(after)
    fixed = fix(text, select=["TPL321"], unsafe=True).text
    assert (after or before) in fixed


def test_what_a_method_of_the_loop_counts() -> None:
    text = TRAINER.replace("if self.scheduler is not None:", "if self.ready:")
    made = (
        "import torch\noptimizer = torch.optim.SGD(ps)\nTrainer(net, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 3))"
    )
    assert early(text.format(step="self.scheduler.step()") + made) == []


def unused(text: str) -> int:
    semantics, nodes = marked(text)
    found = semantics.of(IdleSchedules).unused
    assert list(found) == nodes
    return len(found)


def test_a_scheduler_that_nothing_moves_on() -> None:
    assert unused(snippet("«lr_scheduler.StepLR(optimizer, 10)»")) == 1
    assert unused(snippet("«lr_scheduler.StepLR(optimizer, 10)»", last="print(scheduler.get_last_lr())")) == 1


@pytest.mark.parametrize(("optimizers", "expected"), [("[optimizer]", 1), ("(optimizer, args)", 1), ("args", 0), ("[args]", 0)])
def test_optimizers_may_step_in_turn(optimizers: str, expected: int) -> None:
    text = snippet("«lr_scheduler.StepLR(optimizer, 10)»" if expected else "lr_scheduler.StepLR(optimizer, 10)")
    text = text.replace("            optimizer.step()", f"            for each in {optimizers}:\n                each.step()")
    assert unused(text) == expected


def test_a_scheduler_of_another_optimizer_than_the_one_that_steps() -> None:
    other = "optim.SGD(model.head.parameters(), lr=0.1)\n    scheduler = "
    text = snippet("lr_scheduler.StepLR(other, 10)").replace("scheduler = ", f"other = {other}")
    assert unused(text) == 0
    assert unused(snippet("«lr_scheduler.StepLR(optimizer=optimizer, step_size=10)»")) == 1


@pytest.mark.parametrize(
    "last",
    [STEP, "helper(scheduler)", "move = scheduler.step", "return scheduler", "state = [scheduler]", "scheduler.anything()"],
)
def test_a_scheduler_that_something_moves_on_or_may(last: str) -> None:
    assert unused(snippet(last=last)) == 0


KEPT = """
from torch import optim
class Trainer{base}:
    def __init__(self, net):
        self.optimizer = optim.Adam(net.parameters())
        self.scheduler = {made}
    def fit(self, net, loader):
        for x in loader:
            self.optimizer.zero_grad()
            net(x).sum().backward()
            self.optimizer.step()
        {last}
{program}
"""
MADE = "optim.lr_scheduler.StepLR(self.optimizer, 10)"
PROGRAM = "if __name__ == '__main__':\n    Trainer(net).fit(net, [])"


def test_a_scheduler_that_the_own_object_of_a_program_keeps() -> None:
    assert unused(KEPT.format(base="", made=f"«{MADE}»", last="pass", program=PROGRAM)) == 1
    assert unused(KEPT.format(base="", made=MADE, last="self.scheduler.step()", program=PROGRAM)) == 0
    assert unused(KEPT.format(base="", made=MADE, last="helper(self.scheduler)", program=PROGRAM)) == 0
    assert unused(KEPT.format(base="(Base)", made=MADE, last="pass", program=PROGRAM)) == 0
    assert unused(KEPT.format(base="", made=MADE, last="pass", program="")) == 0


def test_a_scheduler_that_is_called_as_the_package_is() -> None:
    kept = KEPT.replace("self.scheduler", "self.lr_scheduler")
    assert unused(kept.format(base="", made=f"«{MADE}»", last="pass", program=PROGRAM)) == 1
    assert unused(kept.format(base="", made=MADE, last="self.lr_scheduler.step()", program=PROGRAM)) == 0
    assert unused(kept.format(base="", made=MADE, last="pass", program=PROGRAM + "\nt.lr_scheduler.step()")) == 0


def test_a_function_of_another_file_that_trains() -> None:
    calls = """
from torch import optim
from engine import train_epoch
def main(net, loader):
    optimizer = optim.Adam(net.parameters())
    scheduler = optim.lr_scheduler.StepLR(optimizer, 10)
    for epoch in range(9):
        {}
        {}
"""
    assert early(calls.format("«scheduler.step()»", "train_epoch(net, loader, optimizer)")) == [(True, False)]
    assert early(calls.format("train_epoch(net, loader, optimizer)", "scheduler.step()")) == []
    assert early(calls.format("scheduler.step()", "train_loader(net, loader, optimizer)")) == []
    assert early(calls.format("scheduler.step()", "train_epoch(net, loader)")) == []


def wrong(text: str) -> list[tuple[str, bool, bool]]:
    """Of each length in the wrong unit: how it is written, whether it is in batches, and whether their loader is known."""
    semantics, nodes = marked(text)
    found = semantics.of(Schedules).wrong_units
    assert list(found) == nodes
    return [(ast.unparse(each.length), each.in_batches, each.loader is not None) for each in found.values()]


@pytest.mark.parametrize(
    ("scheduler", "length"),
    [
        ("lr_scheduler.OneCycleLR(optimizer, 1, epochs=epochs, steps_per_epoch=len(train_loader))", "len(train_loader)"),
        ("lr_scheduler.OneCycleLR(optimizer, 1, len(train_loader) * epochs)", "len(train_loader) * epochs"),
        ("lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(train_loader) * epochs)", "len(train_loader) * epochs"),
    ],
)
def test_batches_once_an_epoch(scheduler: str, length: str) -> None:
    assert wrong(snippet(f"«{scheduler}»", last=STEP)) == [(length, True, False)]
    assert wrong(snippet(scheduler, batch=STEP)) == []


@pytest.mark.parametrize(
    ("last", "is_wrong"),
    [
        (f"if epoch >= 10:\n            {STEP}", True),
        (f"if epoch > args.warm_up:\n            {STEP}", True),
        (f"save_checkpoint(net, scheduler); {STEP}", True),
        (f"if epoch < 10:\n            {STEP}", False),
        (f"if loss >= 10:\n            {STEP}", False),
        (f"if epoch >= 10:\n            {STEP}\n        else:\n            warm_up(optimizer)", False),
        (f"train_further(net, scheduler); {STEP}", False),
    ],
)
def test_batches_once_an_epoch_behind_a_warm_up(last: str, is_wrong: bool) -> None:
    made = "lr_scheduler.CosineAnnealingLR(optimizer, len(train_loader))"
    assert bool(wrong(snippet(f"«{made}»" if is_wrong else made, last=last))) is is_wrong


def test_schedulers_of_the_same_name_in_other_functions() -> None:
    text = snippet("«lr_scheduler.CosineAnnealingLR(optimizer, len(train_loader))»", last=STEP)
    assert len(wrong(text + "\n\ndef further(net, scheduler):\n    scheduler.step()\n    return scheduler\n")) == 1


@pytest.mark.parametrize("length", ["epochs", "args.num_epochs", "args.n_epoch"])
def test_epochs_in_each_batch(length: str) -> None:
    scheduler = f"lr_scheduler.CosineAnnealingLR(optimizer, {length})"
    assert wrong(snippet(f"«{scheduler}»", batch=STEP)) == [(length, False, True)]
    assert wrong(snippet(scheduler, last=STEP)) == []


@pytest.mark.parametrize(
    ("scheduler", "batch"),
    [
        ("lr_scheduler.CosineAnnealingLR(optimizer, 100)", STEP),
        ("lr_scheduler.CosineAnnealingLR(optimizer, args.steps)", STEP),
        ("lr_scheduler.CosineAnnealingLR(optimizer, args.warm_epochs_of_all)", STEP),
        ("lr_scheduler.CosineAnnealingLR(optimizer, epochs)", f"if epoch: {STEP}"),
        ("lr_scheduler.CosineAnnealingLR(optimizer, epochs)", f"{STEP}; helper(scheduler)"),
        ("lr_scheduler.CosineAnnealingLR(optimizer, epochs)", f"{STEP}; {STEP}"),
    ],
)
def test_units_that_are_not_known(scheduler: str, batch: str) -> None:
    assert wrong(snippet(scheduler, batch=batch)) == []


BY_AN_OBJECT = """import torch
from torch.optim import lr_scheduler
class Trainer:
    def __init__(self, net, loader):
        self.loader, self.inner = loader, torch.optim.SGD(net.parameters(), 0.1)
        self.rates = «lr_scheduler.OneCycleLR(self.inner, 1, epochs=9, steps_per_epoch=len(loader))»
    def turn(self, net):
        for x in self.loader:
            self.inner.zero_grad()
            net(x).sum().backward()
            self.inner.step()
    def fit(self, net):
        for epoch in range(9):
            self.turn(net)
            self.rates.step()
"""


def test_a_scheduler_that_an_object_keeps() -> None:
    assert wrong(BY_AN_OBJECT) == [("len(loader)", True, False)]
    plain = BY_AN_OBJECT.replace("«", "").replace("»", "")
    assert wrong(plain.replace("self.inner.step()", "self.inner.step()\n            self.rates.step()")) == []
    assert wrong(plain + "        self.rates = None\n") == []
    assert wrong(plain + "trainer.rates.step()\n") == []
    assert wrong(plain.replace("for epoch in range(9)", "for part in parts")) == []


RETURNED = """
from torch import optim
from torch.optim.lr_scheduler import StepLR
def made(model):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scheduler = «StepLR(optimizer, 10)»
    return optimizer, scheduler
def train(model, loader):
    optimizer, scheduler = made(model)
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        print(x)
if __name__ == "__main__":
    train(net, data)
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("print(x)", "print(scheduler.get_last_lr())", 1),
        ("return optimizer, scheduler", "return scheduler", 0),
        ("print(x)", "scheduler.step()", 0),
        ("print(x)", "moved(scheduler)", 0),
        ("optimizer, scheduler = made(model)", "global scheduler\n    optimizer, scheduler = made(model)", 0),
        ("optimizer, scheduler = made(model)", "both = optimizer, scheduler = made(model)", 0),
        ("optimizer, scheduler = made(model)", "optimizer, *scheduler = made(model)", 0),
        ("optimizer, scheduler = made(model)", "both = made(model)", 0),
        ('__name__ == "__main__"', "net", 0),
        ("train(net, data)", "train(net, data)\n    kept = made(net)", 0),
        ("train(net, data)", "train(net, data)\n    kept = make(made)", 0),
    ],
)
def test_returned_to_callers_that_do_nothing_with_it(old: str, new: str, found: int) -> None:
    text = RETURNED.replace(old, new)
    assert unused(text if found else text.replace("«", "").replace("»", "")) == found


def test_returned_by_itself() -> None:
    text = RETURNED.replace("return optimizer, scheduler", "return scheduler").replace("optimizer, scheduler =", "scheduler =")
    assert unused(text) == 1
    assert unused(text.replace("«", "").replace("»", "").replace("= made(model)", "= kept(made)")) == 0
