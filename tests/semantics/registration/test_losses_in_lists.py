"""Which losses miss nothing in a plain list."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.registration.kept_losses import KeptLosses

START = """\
import torch
from torch import nn
class OwnLoss(nn.Module):
    def __init__(self, gamma, device):
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(gamma), requires_grad=False)
        self.to(device)
class StillLoss(nn.Module):
    def __init__(self, gamma):
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(gamma), requires_grad=False)
class LearntLoss(nn.Module):
    def __init__(self, gamma, device):
        super().__init__()
        self.gamma = nn.Parameter(torch.tensor(gamma))
        self.to(device)
class DeepLoss(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.to(device)
class Tasks(nn.Module):
    def __init__(self, n, known, device, w):
        super().__init__()
        if known:
            self.weights = self.make()
        else:
            self.weights = [None for _ in range(n)]
        self.plain = [torch.ones(3) for _ in range(n)]
        self.losses = [«ITEM» for i in range(n)]
    def make(self):
        return nn.ParameterList([nn.Parameter(torch.ones(3), requires_grad=False)])
"""


def lacks_nothing(item: str) -> bool:
    semantics, [node] = marked(START.replace("ITEM", item))
    return semantics.of(KeptLosses).lacks_nothing(node)


@pytest.mark.parametrize(
    "item",
    ["nn.CrossEntropyLoss(weight=self.weights[i], ignore_index=0)", "nn.CrossEntropyLoss()", "OwnLoss(2.0, device)"],
)
def test_what_lacks_nothing(item: str) -> None:
    assert lacks_nothing(item)


@pytest.mark.parametrize(
    "item",
    [
        "nn.CrossEntropyLoss(weight=self.plain[i])",  # it is not moved
        "nn.BCEWithLogitsLoss(pos_weight=w)",
        "nn.CrossEntropyLoss(weight=torch.ones(3))",
        *("StillLoss(2.0)", "LearntLoss(2.0, device)", "DeepLoss(device)", "nn.Linear(3, 3)"),
    ],
)
def test_what_has_to_be_registered(item: str) -> None:
    assert not lacks_nothing(item)
