# attacks: TPL002
# promise: a gradient of a plain backward is read as it is
# stays safe: yes
"""The norm of all gradients, as it is logged everywhere."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
net(torch.randn(5, 3)).pow(2).mean().backward()
total = 0.0
for p in net.parameters():
    if p.grad is not None:
        total += p.grad.data.norm(2).item() ** 2
print(round(total**0.5, 6))
