# attacks: TPL001
# promise: what a decorated function of the file gives was computed when it is called
"""Regularisation terms are cached between the rounds of a projection."""
import functools

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 1)
x = torch.randn(4, 3, requires_grad=True)


@functools.lru_cache(maxsize=None)
def penalty():
    return (layer(x) ** 2).sum()


total = penalty()
print(round(total.item(), 5))
layer.weight.data.clamp_(-5, 5)
loss = penalty()
loss.backward()
print([round(v, 5) for v in layer.weight.grad.flatten().tolist()])
