# attacks: TPL404
# promise: nothing else takes notice of a wait; work on the host that overlaps with the GPU's is held up by it
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
events = []
torch.cuda.is_available = lambda: True
torch.cuda.synchronize = lambda *args: events.append("wait")


class Stage:
    """One stage of a pipeline: queues its part, and lets the host go on."""

    def __init__(self, model: nn.Module):
        self.model = model.to(device)
        self.queued = 0.0

    def push(self, x):
        tick = time.time()
        y = self.model(x)
        self.queued += time.time() - tick
        events.append("queued")
        return y


torch.manual_seed(0)
stages = [Stage(nn.Linear(3, 3)), Stage(nn.Linear(3, 1))]
for index in range(2):
    events.append(f"load {index}")
    x = torch.randn(2, 3).to(device)
    for stage in stages:
        x = stage.push(x)
print(events)
