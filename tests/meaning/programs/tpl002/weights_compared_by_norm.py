# attacks: TPL002
# promise: parameters can be read under no_grad as they are
# stays safe: yes
"""Distance of two networks' weights, under no_grad."""
import torch
from torch import nn

torch.manual_seed(0)
one, other = nn.Linear(3, 2), nn.Linear(3, 2)
with torch.no_grad():
    distance = sum((p.data - q.data).pow(2).sum() for p, q in zip(one.parameters(), other.parameters()))
    print(round(distance.item(), 5), distance.requires_grad)
print([tuple(p.data.shape) for p in one.parameters()])
