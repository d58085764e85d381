# attacks: TPL303
# promise: nobody else initialises the module; a subclass does, and registers a layer before
import torch
from torch import nn


class Head(nn.Module):
    """A mixin for modules, which have been initialised when it comes to its turn."""

    def __init__(self, width):
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.stem(x).relu())


class Net(Head):
    def __init__(self, width):
        nn.Module.__init__(self)
        self.stem = nn.Linear(3, width)
        super().__init__(width)


torch.manual_seed(0)
print(round(Net(4)(torch.ones(1, 3)).item(), 4))
