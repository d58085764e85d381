# attacks: TPL001
# promise: a gradient of a plain backward has no graph
# stays safe: yes
"""Gradient values are clipped by hand before the step."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(6, 4)).pow(2).sum().backward()
    for p in model.parameters():
        p.grad.data.clamp_(-0.5, 0.5)
    optimizer.step()
print([round(v, 4) for v in model.weight.flatten().tolist()])
print([round(v, 4) for v in model.bias.grad.tolist()])
