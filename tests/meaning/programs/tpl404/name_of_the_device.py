# attacks: TPL404
# promise: a device that is called `cuda` is one; here the name stands for what there is
import time

import torch
from torch import nn

cuda = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def bench(rounds):
    model = nn.Linear(3, 2).to(cuda)
    x = torch.ones(1, 3).to(cuda)
    start = time.perf_counter()
    for _ in range(rounds):
        y = model(x)
    elapsed = time.perf_counter() - start
    return elapsed < 60, y.shape


try:
    print(bench(3))
except AssertionError as error:
    print("cannot be measured here:", type(error).__name__)
