# attacks: TPL303
# promise: the constructor of a base does nothing but make the module; this one numbers its instances
import itertools

import torch
from torch import nn

NUMBERS = itertools.count()


class Numbered(nn.Module):
    def __init__(self):
        super().__init__()
        self.number = next(NUMBERS)


class Shift(Numbered):
    """A view of a layer with a number of its own: it takes none."""

    def __init__(self, by):
        self.by = by

    def forward(self, x):
        return x + self.by


first, shift, second = Numbered(), Shift(2.0), Numbered()
print(first.number, second.number, shift.forward(torch.ones(2)).tolist())
