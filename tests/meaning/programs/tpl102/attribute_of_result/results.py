from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Output:
    loss: torch.Tensor
    total: torch.Tensor


def run(model, x, y):
    losses = F.cross_entropy(model(x), y, reduction="none")
    return Output(losses, losses.sum())
