# attacks: TPL404
# promise: the outputs of a benchmark are the same, and it still runs without a GPU
# stays safe: yes
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def benchmark(model, x, repeats=5):
    model, x = model.to(device).eval(), x.to(device)
    with torch.no_grad():
        for _ in range(2):
            model(x)
        start = time.perf_counter()
        for _ in range(repeats):
            y = model(x)
        elapsed = time.perf_counter() - start
    return y, elapsed / repeats


torch.manual_seed(0)
y, seconds = benchmark(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)), torch.ones(4, 8))
print(y.shape, round(y.sum().item(), 4), seconds > 0)
