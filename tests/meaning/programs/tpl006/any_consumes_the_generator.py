# attacks: TPL006
# promise: nobody looks at what setattr returns
import torch
from torch import nn

torch.manual_seed(0)
blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
marked = any(setattr(block, "requires_grad", False) for block in blocks)
print("anything returned:", marked)
returned = [setattr(block, "requires_grad", True) for block in blocks]
print(returned)
h = torch.randn(4, 3)
for block in blocks:
    h = torch.relu(block(h))
print(round(h.sum().item(), 5))
