# attacks: TPL104
# promise: the array shares its memory with the tensor as before
# stays safe: yes
"""Weights are written through an array over their memory."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)
view = layer.weight.data.numpy()
view[:] = [[1.0, 2.0], [3.0, 4.0]]
layer.bias.data.numpy()[:] = 0.5
out = layer(torch.ones(1, 2))
out.sum().backward()
print(out.tolist(), layer.weight.tolist(), layer.weight.grad.tolist())
