"""Schedulers that scale what the ``get_lr`` of their base gives: the marked calls, or none."""

from __future__ import annotations

import ast
import warnings

import pytest

from marked import marked
from torchlint.semantics.schedules.compounding import CompoundingSchedules

HEAD = """
import numpy as np
import torch
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import {base}
{before}
class Own({bases}):
    def factor(self):
        return min(1.0, self.last_epoch / 9)
    @property
    def share(self):
        return self._step_count / 9
    def get_lr(self):
        {body}
{behind}
"""
PLAIN = "return [lr * self.last_epoch / 5 for lr in {}]"


def compounding(
    body: str, base: str = "StepLR", bases: str = "", before: str = "", behind: str = ""
) -> list[tuple[str, int, bool, bool]]:
    """Of each call that is scaled again in each step: the factor, how many calls there are, whether there is another way."""
    lines = "\n        ".join(body.split("\n"))
    semantics, nodes = marked(HEAD.format(body=lines, base=base, bases=bases or base, before=before, behind=behind))
    found = semantics.of(CompoundingSchedules).found
    assert list(found) == nodes
    return [(ast.unparse(each.factor), len(each.calls), each.has_closed_form, each.of_epoch) for each in found.values()]


@pytest.mark.parametrize(
    ("body", "factor"),
    [
        ("return [lr * self.last_epoch for lr in «super().get_lr()»]", "self.last_epoch"),
        ("return [self.factor() * lr for lr in «super(Own, self).get_lr()»]", "self.factor()"),
        ("return [lr * self.share for lr in «StepLR.get_lr(self)»]", "self.share"),
        ("return list(lr / (1 + self.last_epoch) for lr in «super().get_lr()»)", "1 + self.last_epoch"),
        ("return [lr + self.last_epoch * 0.1 for lr in «super().get_lr()»]", "self.last_epoch * 0.1"),
        ("return [max(self.low, lr * self.factor()) for lr in «super().get_lr()»]", "self.factor()"),
        ("return [self.low + (lr - self.low) * self.factor() for lr in «super().get_lr()»]", "self.factor()"),
        ("return [lr * f * self.factor() for lr, f in zip(«super().get_lr()», self.all)]", "self.factor()"),
        ("return [lr * self.factor() for f, lr in zip(self.all, «super().get_lr()»)]", "self.factor()"),
        ("return [lr * self.factor() for i, lr in enumerate(«super().get_lr()»)]", "self.factor()"),
        ("rates = «super().get_lr()»\nreturn [lr * self.factor() for lr in rates]", "self.factor()"),
        ("rates = «super().get_lr()»\nrates = [lr * self.factor() for lr in rates]\nreturn rates", "self.factor()"),
        ("f = self.factor()\nf *= 2\nreturn [lr * f for lr in «super().get_lr()»]", "f"),
        ("rates = «super().get_lr()»\nfor i in range(2):\n    rates[i] *= self.factor()\nreturn rates", "self.factor()"),
        ("rates = «super().get_lr()»\nfor i in range(2):\n    rates[i] = rates[i] * self.share\nreturn rates", "self.share"),
        ("rates = []\nfor lr in «super().get_lr()»:\n    rates.append(lr * self.share)\nreturn rates", "self.share"),
        ("return (np.array(«super().get_lr()») * self.share).tolist()", "self.share"),
        ("return [lr * self.share if self.last_epoch < 9 else lr for lr in «super().get_lr()»]", "self.share"),
        (
            "if self.last_epoch == 0:\n    return self.base_lrs\nreturn [lr * self.share for lr in «super().get_lr()»]",
            "self.share",
        ),
        (
            "if self.how == 'linear':\n    f = self.factor()\nelse:\n    f = 1\nreturn [lr * f for lr in «super().get_lr()»]",
            "f",
        ),
    ],
)
def test_scaled_again_in_each_step(body: str, factor: str) -> None:
    assert compounding(body) == [(factor, 1, True, True)]


def test_all_calls_of_the_method() -> None:
    body = "if self.last_epoch < 5:\n    " + PLAIN.format("«super().get_lr()»") + "\nreturn super().get_lr()"
    assert compounding(body) == [("self.last_epoch", 2, True, True)]


def test_a_step_behind_the_first() -> None:
    first = "if self.last_epoch == 0:\n    return [lr * self.share for lr in super().get_lr()]\n"
    assert compounding(first + PLAIN.format("«super().get_lr()»")) == [("self.last_epoch", 2, True, True)]


def test_a_factor_that_may_be_meant() -> None:
    assert compounding("return [lr * self.scale for lr in «super().get_lr()»]") == [("self.scale", 1, True, False)]
    assert compounding("if self.last_epoch < 5:\n    pass\nreturn [lr * self.scale for lr in super().get_lr()]") == []


@pytest.mark.parametrize(
    "body",
    [
        "return super().get_lr()",
        "return [lr for lr in super().get_lr()]",
        "return [lr * 1.0 for lr in super().get_lr()]",
        "return [lr * 0.5 for lr in super().get_lr()]",
        "return [lr * self.gamma2 for lr in super().get_lr()]",
        "return [lr + self.offset for lr in super().get_lr()]",
        "return [max(lr, self.low) for lr in super().get_lr()]",
        "return [lr * self.last_epoch for lr in self.base_lrs]",
        "return [lr * self.last_epoch for lr in super()._get_closed_form_lr()]",
        "print([lr * self.last_epoch for lr in super().get_lr()])\nreturn super().get_lr()",
        "if self.last_epoch % 5:\n    return super().get_lr()\nreturn [lr * self.factor() for lr in super().get_lr()]",
        "if self.last_epoch in self.at:\n    return [lr * self.scale for lr in super().get_lr()]\nreturn super().get_lr()",
        "if self.last_epoch == self.at:\n    return [lr * self.last_epoch for lr in super().get_lr()]\nreturn super().get_lr()",
        "return [lr * self.last_epoch / (self.last_epoch - 1) for lr in super().get_lr()]",
        "f, g = self.last_epoch, 0\nh = self.last_epoch - 1\nreturn [lr * (self.last_epoch / h) for lr in super().get_lr()]",
        "return [lr * self.factor() / self.last_factor for lr in super().get_lr()]",
        "return [lr * self.factor() / self.previous for lr in super().get_lr()]",
        "self.f = self.factor()\nreturn [lr * self.f for lr in super().get_lr()]",
        "return [lr * self.last_epoch for lr in other.get_lr()]",
        "return [lr * self.last_epoch for lr in super(Other, self).get_lr()]",
        "return [lr * self.last_epoch for lr in super().get_lr(1)]",
        "def inner(self):\n    return [lr * self.last_epoch for lr in super().get_lr()]\nreturn inner(self)",
        "for g in self.optimizer.param_groups:\n    g['lr'] = g['plain']\n" + PLAIN.format("super().get_lr()"),
        "for g in self.optimizer.param_groups:\n    g.update({'lr': g['plain']})\n" + PLAIN.format("super().get_lr()"),
        "for g in self.optimizer.param_groups:\n    g.update(lr=g['plain'])\n" + PLAIN.format("super().get_lr()"),
        "for g, m in zip(self.optimizer.param_groups, self.m):\n    g[key] = m\n" + PLAIN.format("super().get_lr()"),
        "for g in self.optimizer.param_groups:\n    g.__setitem__('lr', 1)\n" + PLAIN.format("super().get_lr()"),
        "f = self.factor()\nwas = getattr(self, 'f', 1)\nself.f = f\nreturn [lr / was * f for lr in super().get_lr()]",
        "if not self.dropped:\n    self.dropped = True\n    " + PLAIN.format("super().get_lr()") + "\nreturn super().get_lr()",
        "if not getattr(self, 'dropped', 0):\n    self.dropped = 1\n    "
        + PLAIN.format("super().get_lr()")
        + "\nreturn super().get_lr()",
        "now, then = self.factor(), self.factor()\nr = self.last_epoch / (self.last_epoch - 1)\n"
        "return [lr * r for lr in super().get_lr()]",
        "if self.last_epoch == 0:\n    " + PLAIN.format("super().get_lr()") + "\nreturn super().get_lr()",
        "if not self.last_epoch:\n    " + PLAIN.format("super().get_lr()") + "\nreturn super().get_lr()",
        "return [lr * self.share if self.last_epoch < 1 else lr for lr in super().get_lr()]",
        "return [lr * self.drops.get(self.last_epoch, 1.0) for lr in super().get_lr()]",
        "return [lr * self.steps[self.last_epoch] for lr in super().get_lr()]",
        "f = 0.1 ** (self.last_epoch in self.drops)\nreturn [lr * f for lr in super().get_lr()]",
        "return [lr * (0.1 if self.last_epoch == 30 else 1) for lr in super().get_lr()]",
    ],
)
def test_not_scaled_or_meant_so(body: str) -> None:
    assert compounding(body) == []


@pytest.mark.parametrize(
    ("base", "bases", "before", "behind"),
    [
        ("LambdaLR", "", "", ""),
        ("CyclicLR", "", "", ""),
        ("OneCycleLR", "", "", ""),
        ("CosineAnnealingWarmRestarts", "", "", ""),
        ("LRScheduler", "", "", ""),
        ("StepLR", "Other", "", ""),
        ("StepLR", "StepLR, Mixed", "", ""),
        ("StepLR", "", "class StepLR:\n    pass", ""),
        ("StepLR", "", "StepLR = make()", ""),
        ("StepLR", "Mid", "class Mid(StepLR):\n    def get_lr(self):\n        return self.base_lrs", ""),
        ("StepLR", "Mid", "class Mid(StepLR):\n    get_lr = made", ""),
        ("StepLR", "Mid", "class Mid(StepLR):\n    def step(self):\n        pass", ""),
        ("StepLR", "", "", "    def step(self, epoch=None):\n        self.reset()"),
        ("StepLR", "", "", "    def _update_lr(self, epoch=None):\n        self.reset()"),
        ("StepLR", "", "", "class Heir(Own):\n    def step(self, epoch=None):\n        self.reset()"),
        ("StepLR", "", "", "class Heir(Own, Mixed):\n    pass"),
        ("StepLR", "", "", "Own.step = own_step"),
        ("StepLR", "", "", "setattr(Own, 'step', own_step)"),
    ],
)
def test_other_classes(base: str, bases: str, before: str, behind: str) -> None:
    assert compounding(PLAIN.format("super().get_lr()"), base, bases, before, behind) == []


def test_classes_that_go_on_from_the_last_rate() -> None:
    marked_call = PLAIN.format("«super().get_lr()»")
    assert compounding(marked_call, "MultiplicativeLR") == [("self.last_epoch", 1, False, True)]
    assert compounding(marked_call, "StepLR", "lr_scheduler.LinearLR") == [("self.last_epoch", 1, True, True)]
    assert compounding(marked_call, "StepLR", "Mid", "class Mid(StepLR):\n    n = 3") == [("self.last_epoch", 1, True, True)]
    own = "    def _get_closed_form_lr(self):\n        return self.base_lrs"
    assert compounding(marked_call, behind=own) == [("self.last_epoch", 1, False, True)]


GIVEN = {
    "StepLR": (30,),
    "MultiStepLR": ([300],),
    "ConstantLR": (),
    "LinearLR": (),
    "ExponentialLR": (0.999,),
    "PolynomialLR": (1000,),
    "CosineAnnealingLR": (1000,),
    "MultiplicativeLR": (lambda epoch: 1.0,),
    "LambdaLR": (lambda epoch: 1.0,),
    "CyclicLR": (1e-4, 1e-3),
    "OneCycleLR": (1e-3, 1000),
    "CosineAnnealingWarmRestarts": (1000,),
}


def rate(name: str, text: str) -> float:
    """The rate after a hundred steps of a class that derives from a scheduler of torch."""
    torch = pytest.importorskip("torch")
    base = getattr(torch.optim.lr_scheduler, name)
    space: dict[str, type] = {"Base": base}
    exec(f"class Own(Base):\n    n = 0{text}", space)
    optimizer = torch.optim.SGD([torch.zeros(1)], 1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scheduler = space["Own"](optimizer, *GIVEN[name])
        for _ in range(99):
            optimizer.step()
            scheduler.step()
    return float(optimizer.param_groups[0]["lr"])


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_what_torch_does(name: str) -> None:
    goes_on = (
        bool(compounding("return [lr * self.factor() for lr in «super().get_lr()»]", name)) if name in _GOING_ON else False
    )
    text = "\n    def get_lr(self):\n        return [lr * min(1.0, (self.last_epoch + 1) / 100) for lr in super().{}()]"
    plain, scaled = rate(name, ""), rate(name, text.format("get_lr"))
    assert (scaled < plain / 1e6) is goes_on
    assert goes_on or scaled == pytest.approx(plain)
    if goes_on and name != "MultiplicativeLR":
        assert rate(name, text.format("_get_closed_form_lr")) == pytest.approx(plain)


_GOING_ON = {
    *("StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR"),
    "MultiplicativeLR",
}
