# attacks: TPL001
# promise: an augmented assignment to an attribute has no other effect than the change
"""A tracked module writes down every assignment of a weight, to invalidate its cache."""
import torch
from torch import nn

torch.manual_seed(0)


class Tracked(nn.Module):
    def __init__(self):
        super().__init__()
        self.cached = None
        self.weight = nn.Parameter(torch.ones(2, 2))

    def __setattr__(self, name, value):
        if name == "weight":
            self.cached = None
        super().__setattr__(name, value)

    def product(self):
        if self.cached is None:
            self.cached = (self.weight @ self.weight).detach()
        return self.cached


module = Tracked()
first = module.product()
module.weight.data *= 2
print(first.tolist(), module.product().tolist(), module.weight.tolist())
