# attacks: TPL001
# promise: a gradient has no graph where this file asks for none
"""A gradient penalty from a helper leaves gradients with graph; they are scaled before a second backward."""
import torch
from penalty import first_order
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x = torch.randn(6, 3)
first_order(model, x)
for p in model.parameters():
    p.grad.data.mul_(0.5)
sharpness = sum(p.grad.pow(2).sum() for p in model.parameters())
for p in model.parameters():
    p.grad = None
sharpness.backward()
print(round(sharpness.item(), 5))
print([round(v, 5) for p in model.parameters() for v in p.grad.flatten().tolist()])
