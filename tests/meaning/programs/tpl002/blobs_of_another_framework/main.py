# attacks: TPL002
# promise: what is copied into a parameter is the `data` of a tensor
"""Converts the blobs of an older framework's network."""
import torch
from blobs import load_blobs
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)
weight, bias = load_blobs("net.caffemodel")
with torch.no_grad():
    layer.weight.copy_(torch.Tensor(weight.data))
    layer.bias.copy_(torch.Tensor(bias.data))
out = layer(torch.ones(1, 2))
out.sum().backward()
print(out.tolist(), layer.weight.grad.tolist())
