# attacks: TPL001
# promise: the module called in the statement keeps no graph for later
"""A forward hook records activations; a prototype is refreshed with the same forward pass."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
recorded = []
net[1].register_forward_hook(lambda module, inputs, output: recorded.append(output))

prototype = torch.zeros(5, 3, requires_grad=True)
x = torch.randn(5, 4)
prototype.data.copy_(net(x))

sparsity = sum(activation.abs().mean() for activation in recorded)
(sparsity + (prototype * 2).sum()).backward()
print("first layer", net[0].weight.grad.abs().sum().mul(1e4).round().item())
print("prototype", prototype.grad.sum().item(), prototype.detach().sum().mul(1e4).round().item())
