# attacks: TPL008
# promise: weights written through an array are the weights
"""Weights of another framework are written through numpy, transposed."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
kernel = np.arange(6.0, dtype=np.float32).reshape(3, 2)
target = layer.weight.detach().numpy()
target[...] = kernel.T
print(np.shares_memory(target, layer.weight.detach().numpy()))
out = layer(torch.ones(1, 3)) - layer.bias
out.sum().backward()
print(out.tolist(), layer.weight.tolist())
