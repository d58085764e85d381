# attacks: TPL301
# promise: a given module may be registered; this one is the owner's own parent
import torch
from torch import nn


class Node(nn.Module):
    """A node of a tree of layers that sees its parent, without owning it."""

    def __init__(self, parent: nn.Module, width):
        super().__init__()
        self.width = width
        self.links = [parent, nn.Linear(width, width)]

    def forward(self, x):
        return self.links[1](x) * self.links[0].scale


class Root(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.child = Node(self, width)

    def forward(self, x):
        return self.child(x)


torch.manual_seed(0)
root = Root(3)
root.train()
print(round(root(torch.ones(1, 3)).sum().item(), 4), len(list(root.parameters())))
