# attacks: TPL318
# promise: the first loop ends with a shorter list, and the second goes on behind it
import torch
from torch import nn


def copied(net, saved):
    params = net.parameters()
    for p, old in zip(params, saved):
        p.data.copy_(old)
    for p in params:
        p.data.zero_()
    return [round(p.sum().item(), 3) for p in net.parameters()]


torch.manual_seed(0)
print(copied(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)), [torch.ones(2, 2)]))
