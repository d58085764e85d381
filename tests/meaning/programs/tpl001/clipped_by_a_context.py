# attacks: TPL001
# promise: a context manager goes back through the loss when its block ends
from contextlib import contextmanager

import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD(body.parameters(), lr=0.1)


@contextmanager
def training_step(x):
    optimizer.zero_grad()
    loss = head(torch.tanh(body(x))).pow(2).mean()
    yield loss.item()
    loss.backward()
    optimizer.step()


with training_step(torch.ones(4, 2)) as value:
    if value < 10:
        head.weight.data.clamp_(-0.05, 0.05)
print(round(value, 4), [round(v, 4) for v in body.weight.flatten().tolist()])
