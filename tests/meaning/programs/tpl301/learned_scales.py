# attacks: TPL301
# promise: parameters of a list, used one by one, give the same values and gradients
# stays safe: yes
import torch
from torch import nn


class Scales(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.scales = [nn.Parameter(torch.full((1,), 1.0 + index)) for index in range(count)]

    def forward(self, xs):
        return sum((x * scale).sum() for x, scale in zip(xs, self.scales))


scales = Scales(3)
value = scales([torch.ones(2), torch.ones(3), torch.ones(4)])
value.backward()
print(value.item(), [s.grad.item() for s in scales.scales])
