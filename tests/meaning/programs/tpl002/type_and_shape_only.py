# attacks: TPL002
# promise: the form of a parameter needs no data
# stays safe: yes
"""A summary of a model."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2).double())
total = 0
for name, p in model.named_parameters():
    total += p.data.numel()
    print(name, tuple(p.data.size()), p.data.dtype, p.data.dim(), torch.zeros_like(p.data).requires_grad)
print(total)
