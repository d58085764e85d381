# attacks: TPL303
# promise: the call of the base class may come earlier; it builds by what is set before it
import torch
from torch import nn


class Built(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()

    def forward(self, x):
        return self.body(x)


class Net(Built):
    def __init__(self, width, shared=None, tie=False):
        if tie:
            self.body = nn.Linear(3, 3)
        self.width = width
        super().__init__()

    def build(self):
        self.body = nn.Sequential(nn.Linear(3, self.width), nn.ReLU(), nn.Linear(self.width, 1))


torch.manual_seed(0)
print(round(Net(5)(torch.ones(1, 3)).item(), 4))
