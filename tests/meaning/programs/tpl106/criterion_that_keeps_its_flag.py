# attacks: TPL106
# promise: what the criterion was made with is read afterwards
import inspect

import torch
import torch.nn as nn


class Weighted(nn.MSELoss):
    def __init__(self, size_average=None, reduction="mean", factor=2.0):
        super().__init__(reduction="sum" if size_average is False else reduction)
        self.factor = factor
        self.given = size_average

    def forward(self, a, b):
        return super().forward(a, b) * self.factor


a, b = torch.ones(3), torch.zeros(3)
summed = Weighted(size_average=False)
plain = nn.MSELoss(size_average=False)
print(summed(a, b).item(), summed.given, plain(a, b).item(), plain.reduction)
print(getattr(plain, "size_average", "no attribute"), plain)
