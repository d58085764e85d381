# attacks: TPL404
# promise: what is moved to `cuda` on no condition needs a GPU; this move is tried
import time

import torch
from torch import nn


def measure(model, x):
    try:
        model.cuda()
        x = x.cuda()
    except (AssertionError, RuntimeError):
        model.cpu()
    start = time.perf_counter()
    y = model(x)
    elapsed = time.perf_counter() - start
    return elapsed < 60, round(y.sum().item(), 4)


torch.manual_seed(0)
print(measure(nn.Linear(3, 2), torch.ones(1, 3)))
