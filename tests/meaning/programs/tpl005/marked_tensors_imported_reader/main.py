# attacks: TPL005
# promise: no other file reads an attribute that was hung on a tensor
import torch

from groups import parameter_groups

torch.manual_seed(0)
weight = torch.randn(3, 3, requires_grad=True)
bias = torch.zeros(3, requires_grad=True)
scale = torch.ones(3, requires_grad=True)
bias.require_grad = False  # the groups below put it among the slow ones
optimizer = torch.optim.SGD(parameter_groups([weight, bias, scale]), lr=0.5)
x = torch.randn(5, 3)
for _ in range(3):
    optimizer.zero_grad()
    ((x @ weight + bias) * scale - 1).pow(2).mean().backward()
    optimizer.step()
print([round(v, 5) for v in weight.detach().flatten().tolist()])
print([round(v, 5) for v in bias.detach().tolist()])
print([round(v, 5) for v in scale.detach().tolist()], bias.requires_grad)
