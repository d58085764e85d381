# attacks: TPL002
# promise: a hidden state without history starts the next chunk
# stays safe: yes
"""Truncated back-propagation through time with a GRU cell."""
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(2, 3), nn.Linear(3, 1)
hidden = torch.zeros(1, 3)
for _ in range(3):
    hidden = torch.clone(hidden.data)
    for x in torch.randn(4, 1, 2):
        hidden = cell(x, hidden)
    head(hidden).pow(2).sum().backward()
print([round(v, 5) for v in hidden.flatten().tolist()], round(cell.bias_hh.grad.sum().item(), 5))
