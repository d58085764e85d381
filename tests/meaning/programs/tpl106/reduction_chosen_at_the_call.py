# attacks: TPL106
# promise: what `size_average` says can be said by `reduction` before all arguments are known
from functools import partial

import torch
import torch.nn.functional as F

torch.manual_seed(0)
summed = partial(F.mse_loss, size_average=False)
x, y = torch.randn(4), torch.randn(4)


def evaluate(loss, **how):
    return loss(x, y, **how)


for how in ({}, {"reduction": "none"}, {"reduction": "mean"}):
    value = evaluate(summed, **how)
    print(how, tuple(value.shape), round(value.sum().item(), 5))
print(sorted(summed.keywords))
