# attacks: TPL002
# promise: what torch.stack makes of the values of a dict has no graph
"""Uncertainty weights are computed from the current losses as constants."""
import torch
from torch import nn

torch.manual_seed(0)
heads = {"age": nn.Linear(3, 1), "size": nn.Linear(3, 1)}
x = torch.randn(4, 3)
losses = {}
for name, head in heads.items():
    losses[name] = (head(x) - 1).pow(2).mean()
stacked = torch.stack(list(losses.values()))
weights = 1 / stacked.data.sqrt()
total = (weights * stacked).sum()
total.backward()
print(weights.requires_grad, round(total.item(), 5))
print([round(v, 5) for head in heads.values() for v in head.bias.grad.tolist()])
