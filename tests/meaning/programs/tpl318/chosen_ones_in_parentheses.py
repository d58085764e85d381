# attacks: TPL318
# promise: the parameters are chosen by a condition, shown, and clipped
# shows: the norm that clipping sees is zero
# stays safe: yes
import torch
from torch import nn


def train(net):
    params = (p for p in net.parameters() if p.requires_grad)
    sizes = []
    for p in params:
        sizes.append(p.numel())
        print(tuple(p.shape), round(p.abs().max().item(), 4))
    net(torch.ones(2, 3)).sum().backward()
    print(sizes, round(nn.utils.clip_grad_norm_(params, 1.0).item(), 4))


torch.manual_seed(0)
train(nn.Linear(3, 1))
