# attacks: TPL301
# promise: the attributes are named like methods of all modules
import torch
from torch import nn


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.modules = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        for layer in self.modules:
            x = layer(x)
        return x


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.children = [nn.Linear(2, 1), nn.Linear(2, 1)]

    def forward(self, x):
        return torch.cat([child(x) for child in self.children], 1)


torch.manual_seed(0)
print(Chain()(torch.ones(1, 2)))
print(Tree()(torch.ones(1, 2)))
