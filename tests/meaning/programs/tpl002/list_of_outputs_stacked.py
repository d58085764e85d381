# attacks: TPL002
# promise: what torch.stack makes of an appended list has no graph
"""Attention maps of several heads are averaged; the target of the regulariser is meant to be constant."""
import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleList(nn.Linear(3, 4) for _ in range(2))
x = torch.randn(5, 3)
maps = []
for head in heads:
    maps.append(head(x).softmax(-1))
stacked = torch.stack(maps)
target = stacked.data.mean(0) + stacked.data.amax(0)
loss = (stacked - target).pow(2).sum()
loss.backward()
print(target.requires_grad, round(loss.item(), 6))
print([round(h.bias.grad.abs().sum().item(), 6) for h in heads])
