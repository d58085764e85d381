# attacks: TPL002
# promise: the output of a model whose loss is back-propagated is a tensor
"""A model hands out its loss and its data term in a named tuple."""
from collections import namedtuple

import torch
from torch import nn

torch.manual_seed(0)
Output = namedtuple("Output", "loss data")


def build():
    net = nn.Linear(3, 1)

    def call(x):
        y = net(x)
        return Output(y.pow(2).mean(), y.detach())

    return net, call


net, model = build()
seen = []
for _ in range(2):
    out = model(torch.randn(4, 3))
    out.loss.backward()
    seen.append(out.data.mean())
print([round(v.item(), 5) for v in seen])
print([round(v, 5) for v in net.weight.grad.flatten().tolist()])
