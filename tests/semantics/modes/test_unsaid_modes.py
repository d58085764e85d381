"""Modes that are set without a plain ``model.train()``: what a model was trained in is not known behind that."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.modes.evaluation_mode_trainings import EvaluationModeTrainings
from torchlint.semantics.modes.training_mode_evaluations import TrainingModeEvaluations

HEADER = """
import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import resnet18

class Training:
    def __init__(self, net):
        self.net = net

    def on_epoch(self):
        self.net.train()

class Counting:
    def __init__(self, net):
        self.net = net

    def on_epoch(self):
        self.count = len(self.net)

class Evaluating:
    def __init__(self, net):
        self.net = net

    def __enter__(self):
        self.before = self.net.training
        self.net.eval()

    def __exit__(self, *error):
        self.net.train(self.before)

def keeping_mode(function):
    def inner(net, *given):
        before = net.training
        result = function(net, *given)
        net.train(before)
        return result
    return inner

def timed(function):
    return function

def set_train(part):
    part.train()

def set_rate(part):
    part.rate = 0.5

"""
TRAINS = """
{decorator}
def evaluate(net, loader):
    «net.eval()»
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum() for x, y in loader)

def run(loader, test_loader, hooks):
    net = resnet18()
    head = nn.Sequential(nn.Dropout(), nn.Linear(1000, 2))
    optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    modes = [part.training for part in net.modules()]
    {before}
    for epoch in range(9):
        {first}
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        evaluate(net, test_loader)
"""


def is_left(before: str = "", first: str = "", decorator: str = "") -> bool:
    """Whether the marked call leaves the model in evaluation mode for its training."""
    semantics, (call,) = marked(HEADER + TRAINS.format(before=before or "pass", first=first or "pass", decorator=decorator))
    return call in semantics.of(EvaluationModeTrainings).found


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("", "[part.train() for part in (net, head)]"),
        ("", "list(map(lambda part: part.train(), [net, head]))"),
        ("", "net.apply(lambda part: part.train())"),
        ("", "net.apply(set_train)"),
        ("", "nn.Module.train(net)"),
        ("", "nn.Module.train(net, True)"),
        ("training = net.train", "training()"),
        ("", "getattr(net, 'train' if epoch else 'eval')()"),
        ("", "torch.ao.quantization.move_exported_model_to_train(net)"),
        ("", "for part, mode in zip(net.modules(), modes): part.training = mode"),
        ("", "for hook in hooks: hook.on_epoch_start()"),
        ("", "for hook in hooks: hook(net)"),
        ("training = [Training(net)]", "for each in training: each.on_epoch()"),
        ("training = []; training.append(Training(net))", "for each in training: each.on_epoch()"),
        ("training = Training(net)", "training.on_epoch()"),
    ],
)
def test_what_may_set_training_mode(before: str, first: str) -> None:
    assert not is_left(before, first)


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("", ""),
        ("", "list(map(lambda part: len(part), [net, head]))"),
        ("", "net.apply(set_rate)"),
        ("", "nn.Module.train(head)"),
        ("training = head.train", "training()"),
        ("sizes = net.parameters", "sizes()"),
        ("", "getattr(net, 'zero_grad')()"),
        ("", "for part in net.modules(): part.count = 0"),
        ("", "for hook in hooks: hook.log()"),
        ("counting = [Counting(net)]", "for each in counting: each.on_epoch()"),
        ("training = [Training(head)]", "for each in training: each.on_epoch()"),
    ],
)
def test_what_sets_none_or_that_of_another_model(before: str, first: str) -> None:
    assert is_left(before, first)


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [("@torch.no_grad()", True), ("@timed", True), ("@keeping_mode", False), ("@helpers.in_eval_mode", False)],
)
def test_a_decorator_may_set_the_mode_back(decorator: str, expected: bool) -> None:
    assert is_left(decorator=decorator) is expected


CONTEXT = """
def run(loader, test_loader):
    net = resnet18()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        with {context}, torch.no_grad():
            correct = sum((«net(x)».argmax(1) == y).sum() for x, y in test_loader)
"""


@pytest.mark.parametrize(("context", "expected"), [("Evaluating(net)", False), ("Counting(net)", True)])
def test_an_object_may_set_the_mode_for_a_block(context: str, expected: bool) -> None:
    semantics, (call,) = marked(HEADER + CONTEXT.format(context=context))
    assert (call in semantics.of(TrainingModeEvaluations).found) is expected
