# attacks: TPL013
# promise: a function of torch.cuda can be called wherever it can be named
import time

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 4)
start = time.perf_counter()
out = net(torch.randn(8, 4)).sum()
torch.cuda.synchronize
elapsed = time.perf_counter() - start
print(round(out.item(), 5), elapsed >= 0)
