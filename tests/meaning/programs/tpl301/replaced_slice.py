# attacks: TPL301
# promise: a module list takes what a list takes; it refuses a slice
import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = [nn.Linear(width, width) for _ in range(depth)]
        if depth > 2:
            self.blocks[1:3] = [nn.Identity()]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


torch.manual_seed(0)
deep = Deep(2, 4)
print(len(deep.blocks), round(deep(torch.ones(1, 2)).sum().item(), 4))
