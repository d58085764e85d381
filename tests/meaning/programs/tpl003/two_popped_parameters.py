# attacks: TPL003
# promise: two equal expressions give the same object
"""Pairs of weights are tied: the second of each pair takes the initialised memory of the first."""
import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(2, 2, bias=False) for _ in range(4)]
queue = iter(layer.weight for layer in layers)
for _ in range(2):
    next(queue).data = nn.init.normal_(next(queue).data)
layers[0](torch.ones(1, 2)).sum().backward()
print([[round(v, 4) for v in layer.weight.flatten().tolist()] for layer in layers])
print(layers[0].weight.data_ptr() == layers[1].weight.data_ptr(), layers[1].weight.grad)
