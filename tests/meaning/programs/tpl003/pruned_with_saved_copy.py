# attacks: TPL003, TPL002
# promise: a value that is copied before an assignment to .data is the old one
# stays safe: yes
"""Magnitude pruning with a copy of the dense weights."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(4, 2)
dense = layer.weight.data.clone()
mask = (layer.weight.data.abs() > 0.2).float()
layer.weight.data = layer.weight.data * mask
sparse = layer(torch.ones(1, 4)).detach()
layer.weight.data = dense
print(mask.tolist(), [round(v, 5) for v in sparse.flatten().tolist()])
print([round(v, 5) for v in layer(torch.ones(1, 4)).flatten().tolist()], dense.requires_grad)
