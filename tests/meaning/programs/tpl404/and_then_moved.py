# attacks: TPL404
# promise: only `if` makes a move conditional; `and` and a loop over the GPUs do, too
import time

import torch
from torch import nn


def profile(model, x, use_gpu):
    use_gpu and model.cuda()
    for index in range(torch.cuda.device_count() if use_gpu else 0):
        x = x.cuda(index)
    begin = time.time()
    y = model(x)
    took = time.time() - begin
    return took < 60, round(y.sum().item(), 4)


torch.manual_seed(0)
print(profile(nn.Linear(3, 2), torch.ones(1, 3), use_gpu=False))
