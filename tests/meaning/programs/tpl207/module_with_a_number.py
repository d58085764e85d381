# attacks: TPL207
# promise: the `weight` of a module is a tensor; of this one it is a number
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, inner, weight):
        super().__init__()
        self.inner, self.weight = inner, weight

    def forward(self, x):
        return self.inner(x) * self.weight


def spread(m: nn.Module):
    return torch.tensor(m.weight).abs().sum().item()


torch.manual_seed(0)
print(spread(Scaled(nn.Linear(2, 2), 0.5)), round(spread(nn.Linear(2, 2)), 4))
