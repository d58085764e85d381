# attacks: TPL001
# promise: a suspended generator holds a graph when the weights are changed
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def predictions(batches):
    hidden = net[:2](batches[0])
    yield "ready"
    yield net[2](hidden)


steps = predictions(torch.randn(2, 4, 2))
print(next(steps))
for layer in (net[0], net[2]):
    layer.weight.data.normal_(0, 0.1)
    layer.bias.data.zero_()
out = next(steps)
out.sum().backward()
print(round(net[2].weight.grad.abs().sum().item(), 4), round(net[0].weight.grad.abs().sum().item(), 4))
