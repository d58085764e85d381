# attacks: TPL303
# promise: decorators of classes leave their making alone; this one initialises, and adds a layer
import torch
from torch import nn


def normalised(cls):
    build = cls.__init__

    def __init__(self, width, *args):
        nn.Module.__init__(self)
        self.norm = nn.LayerNorm(width)
        build(self, width, *args)

    cls.__init__ = __init__
    return cls


@normalised
class Block(nn.Module):
    def __init__(self, width):
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc(self.norm(x))


torch.manual_seed(0)
print(round(Block(3)(torch.tensor([[1.0, 2.0, 4.0]])).sum().item(), 4))
