# attacks: TPL003
# promise: what is stored in a parameter's .data comes from a tensor
"""Weights come from the entries of a checkpoint that keep a dtype tag beside their data."""
import torch
from checkpoint import read
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
entries = read()
for name, p in model.named_parameters():
    p.data = entries[name].data
model(torch.ones(1, 2)).sum().backward()
print([(n, p.tolist(), p.grad.tolist()) for n, p in model.named_parameters()])
print(sorted(entries), [e.tag for e in entries.values()])
