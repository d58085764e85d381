# attacks: TPL404
# promise: the difference of two readings is a measurement; here it is the budget of a search, asked in each round
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
queue = []
torch.cuda.is_available = lambda: True
torch.cuda.synchronize = queue.clear


def search(model, x, rounds, budget):
    """Keeps the queue of the GPU filled until time is up."""
    x = x.to(device)
    depths = []
    for _ in range(rounds):
        began = time.monotonic()
        x = model(x)
        queue.append(x)
        spent = time.monotonic() - began
        depths.append(len(queue))
        budget -= spent
        if budget < 0:
            break
    return max(depths)


torch.manual_seed(0)
model = nn.Linear(4, 4).to(device)
print("queued:", search(model, torch.ones(1, 4), 5, 60.0))
