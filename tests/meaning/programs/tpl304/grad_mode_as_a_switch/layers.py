import torch
from torch import nn


class Quantised(nn.Module):
    """Rounds to a grid where nothing will be differentiated."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, x):
        if torch.is_grad_enabled():
            return x
        return (x / self.step).round() * self.step
