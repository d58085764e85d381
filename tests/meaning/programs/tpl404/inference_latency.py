# attacks: TPL404
# promise: latencies of single requests are measured, and the answers are the same
# stays safe: yes
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@torch.no_grad()
def latency(model, x):
    model = model.to(device)
    x = x.to(device)
    t0 = time.perf_counter()
    logits = model(x)
    t1 = time.perf_counter()
    return logits.argmax(-1).tolist(), t1 - t0


torch.manual_seed(0)
answers, seconds = latency(nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.Linear(8, 3)), torch.randn(4, 5))
print(answers, seconds >= 0)
