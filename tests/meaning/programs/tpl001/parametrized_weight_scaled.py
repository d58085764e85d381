# attacks: TPL001
# promise: assigning an attribute of a module to itself does nothing more
"""The weight of a weight-normalised layer is computed anew at every read; scaling the read copy is in vain."""
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
layer = weight_norm(nn.Linear(3, 2))
x = torch.randn(4, 3)
print([round(v, 5) for v in layer(x).flatten().tolist()])
layer.weight.data *= 0.5
layer.bias.data *= 0.5
print([round(v, 5) for v in layer(x).flatten().tolist()])
print([(n, round(p.abs().sum().item(), 4)) for n, p in layer.named_parameters()])
