# attacks: TPL301
# promise: experts of a dict with plain names, called by their names, give the same
# stays safe: yes
import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.experts = {"left": nn.Linear(width, width), "right": nn.Linear(width, width)}

    def forward(self, x, side):
        mixed = sum(expert(x) for expert in self.experts.values())
        return self.experts[side](x) + mixed


torch.manual_seed(0)
net = Experts(3)
print([round(net(torch.ones(1, 3), side).sum().item(), 4) for side in ("left", "right")], len(net.experts))
