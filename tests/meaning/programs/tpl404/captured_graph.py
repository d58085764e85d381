# attacks: TPL404
# promise: waiting is allowed wherever the clock is read; not while a CUDA graph is captured
import contextlib
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
state = {"capturing": False}


@contextlib.contextmanager
def capture():
    state["capturing"] = True
    yield
    state["capturing"] = False


def synchronize(device=None):
    if state["capturing"]:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")


torch.cuda.is_available = lambda: True
torch.cuda.synchronize = synchronize
torch.manual_seed(0)
model = nn.Linear(3, 2).to(device)
x = torch.ones(1, 3, device=device)
with capture():
    start = time.perf_counter()
    y = model(x)
    queued = time.perf_counter() - start
print("captured", round(y.sum().item(), 4), queued < 60)
