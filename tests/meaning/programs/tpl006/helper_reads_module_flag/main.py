# attacks: TPL006
# promise: nobody reads an attribute `requires_grad` of a module
import torch
from torch import nn

from selection import trainable

torch.manual_seed(0)
backbone = nn.Linear(4, 4)
head = nn.Linear(4, 2)
backbone.requires_grad = False  # selection.trainable leaves it out of the optimizer, gradients stay for the probe
optimizer = torch.optim.SGD(trainable([backbone, head]), lr=0.1)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
norms = []
for _ in range(3):
    optimizer.zero_grad()
    backbone.zero_grad()
    nn.functional.cross_entropy(head(torch.relu(backbone(x))), y).backward()
    norms.append(round(backbone.weight.grad.norm().item(), 5))
    optimizer.step()
print(norms)
print(round(backbone.weight.sum().item(), 5), round(head.weight.sum().item(), 5))
