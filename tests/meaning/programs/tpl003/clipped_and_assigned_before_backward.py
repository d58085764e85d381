# attacks: TPL003
# promise: a change on the right of an assignment to .data may be noticed by autograd
"""Weights within their bounds are clipped while the loss still waits for its backward."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
loss = net(torch.randn(6, 2)).pow(2).mean()
for p in net.parameters():
    p.data = p.data.clamp_(-5, 5)
loss.backward()
print(round(loss.item(), 5), [round(p.grad.abs().sum().item(), 5) for p in net.parameters()])
