# attacks: TPL101
# promise: what a module keeps is registered neither before nor after
import torch
import torch.nn as nn
from torch.autograd import Variable


class Prototypes(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        fixed = nn.Parameter(torch.randn(count, width), requires_grad=False)
        self.anchors = Variable(fixed)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return -torch.cdist(x, self.anchors) * self.scale


torch.manual_seed(0)
module = Prototypes(3, 2)
print(sorted(module.state_dict()), sum(p.numel() for p in module.parameters()))
print(type(module.anchors).__name__, f"{module(torch.ones(1, 2)).sum().item():.4f}")
