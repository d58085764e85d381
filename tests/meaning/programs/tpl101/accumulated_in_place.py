# attacks: TPL101
# promise: a tensor without a graph gets none by what is added to it in place
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
gate = nn.Linear(3, 1)
context = torch.zeros(2, 3)
x = torch.randn(2, 3)
for layer in layers:
    x = torch.tanh(layer(x))
    context.add_(x)
summary = Variable(context)
(gate(summary) + x.sum(dim=1, keepdim=True)).pow(2).mean().backward()
print([f"{layer.weight.grad.sum().item():.4f}" for layer in layers])
