# attacks: TPL003
# promise: an assignment to .data may give a tensor another type
"""Weights are stored in half precision and taken back for a step."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
for p in layer.parameters():
    p.data = p.data.half()
print([p.dtype for p in layer.parameters()])
for p in layer.parameters():
    p.data = p.data.float()
out = layer(torch.ones(1, 3))
out.sum().backward()
print([round(v, 4) for v in out.flatten().tolist()], [p.dtype for p in layer.parameters()])
