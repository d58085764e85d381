# attacks: TPL106
# promise: no other file imports a name from this one
import torch
from torch import nn

from initialisers import clip_grad_norm, xavier_uniform

torch.manual_seed(0)
layer = nn.Linear(3, 2)
xavier_uniform(layer.weight)
layer(torch.randn(4, 3)).pow(2).sum().backward()
norm = clip_grad_norm(layer.parameters(), 0.5)
print(round(layer.weight.sum().item(), 5), round(float(norm), 5))
