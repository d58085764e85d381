# attacks: TPL404
# promise: waiting changes nothing but the clock; here the training waits twice in each step for a log line
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
waits = []
torch.cuda.is_available = lambda: True
torch.cuda.synchronize = lambda *args: waits.append(args)


def train(model, batches, optimizer):
    times = []
    for x, y in batches:
        start = time.perf_counter()
        loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    return times


torch.manual_seed(0)
model = nn.Linear(3, 1).to(device)
batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(50)]
times = train(model, batches, torch.optim.SGD(model.parameters(), lr=0.1))
print(len(times), "steps,", len(waits), "waits")
print(round(model.weight.detach().double().sum().item(), 4))
