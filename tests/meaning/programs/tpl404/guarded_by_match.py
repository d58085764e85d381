# attacks: TPL404
# promise: a move on no condition; this one is a case of a match statement
import time

import torch
from torch import nn


def latency(model, x, backend):
    match backend:
        case "gpu":
            model, x = model.to("cuda"), x.to("cuda")
        case "double":
            model, x = model.double(), x.double()
    start = time.perf_counter()
    y = model(x)
    elapsed = time.perf_counter() - start
    return elapsed < 60, y.dtype, round(y.sum().item(), 4)


torch.manual_seed(0)
print(latency(nn.Linear(3, 2), torch.ones(1, 3), "double"))
