# attacks: TPL303
# promise: a layer without weights, whose forward is called by name, computes the same
# stays safe: yes
import torch
from torch import nn


class Clamp(nn.Module):
    """Keeps values between two bounds."""

    def __init__(self, low, high):
        super().__init__
        self.low = low
        self.high = high

    def forward(self, x):
        return x.clamp(self.low, self.high)


clamp = Clamp(-1.0, 1.0)
print(clamp.forward(torch.tensor([-3.0, 0.5, 2.0])).tolist(), clamp.low, clamp.high)
