# attacks: TPL301
# promise: nobody outside gives the attribute a plain list; a helper of another file does
import torch
from growing import widen
from torch import nn


class Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = [nn.Linear(width, width), nn.Linear(width, width)]

    def forward(self, x):
        for block in self.blocks:
            x = block(x).tanh()
        return x


torch.manual_seed(0)
tower = Tower(3)
widen(tower, 2)
print(len(tower.blocks), round(tower(torch.ones(1, 3)).sum().item(), 4))
