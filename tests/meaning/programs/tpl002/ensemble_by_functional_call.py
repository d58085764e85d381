# attacks: TPL002
# promise: a functional call of a module with given weights has no graph
"""Self-distillation from a functional call with fast weights; the target is a constant."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Linear(3, 2)
x = torch.randn(4, 3)
fast = {name: p * 0.9 for name, p in net.named_parameters()}
output = functional_call(net, fast, (x,))
target = torch.sigmoid(output).data * 2
loss = (net(x) - target).pow(2).mean()
loss.backward()
print(target.requires_grad, round(loss.item(), 5), [round(v, 5) for v in net.bias.grad.tolist()])
