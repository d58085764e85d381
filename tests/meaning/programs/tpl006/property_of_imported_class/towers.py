import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.trunk = nn.Linear(width, width)
        self.adapter = nn.Linear(width, 1)
        self.log = []

    @property
    def requires_grad(self):
        return any(p.requires_grad for p in self.trunk.parameters())

    @requires_grad.setter
    def requires_grad(self, flag):
        self.log.append(flag)
        for p in self.trunk.parameters():
            p.requires_grad = flag

    def forward(self, x):
        return self.adapter(torch.tanh(self.trunk(x)))
