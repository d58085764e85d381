# attacks: TPL001
# promise: the predictions are kept by a list of closures when the weights are clipped
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
pending = []


def later(x):
    y = net(x)
    pending.append(lambda: y.pow(2).mean().backward())


for x in torch.randn(3, 5, 2):
    later(x)
net[2].weight.data.clamp_(-0.1, 0.1)
for run in pending:
    run()
print(round(net[0].weight.grad.abs().sum().item(), 4))
