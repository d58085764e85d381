# attacks: TPL011
# promise: `weight` of a layer is a leaf
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
torch.nn.utils.weight_norm(layer)
layer.weight.mul_(0.5)
out = F.linear(torch.randn(4, 3), layer.weight, layer.bias)
loss = out.pow(2).mean()
loss.backward()
print(round(loss.item(), 5))
print([(name, round(p.grad.abs().sum().item(), 5)) for name, p in layer.named_parameters()])
