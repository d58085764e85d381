# attacks: TPL303
# promise: a constructor that is only used for its plain attributes gives the same object
# stays safe: yes
import torch
from torch import nn


class Rescale(nn.Module):
    def __init__(self, low, high):
        self.low, self.high = low, high

    def forward(self, x):
        return (x - self.low) / (self.high - self.low)


rescale = Rescale(0.0, 4.0)
print(rescale.forward(torch.arange(3.0)).tolist())
