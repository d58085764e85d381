# attacks: TPL304
# promise: `put` hands the outputs to whoever reads the queue
import queue

import torch
from torch import nn


def produce(model, batches, outbox):
    model.eval()
    for x, y in batches:
        outbox.put((model(x), y))
    outbox.put(None)


def consume(outbox, criterion):
    losses = []
    while (item := outbox.get()) is not None:
        output, target = item
        losses.append(criterion(output, target))
    return torch.stack(losses).mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
batches = [(torch.randn(6, 4), torch.randint(0, 2, (6,))) for _ in range(3)]
outbox = queue.Queue()
produce(model, batches, outbox)
loss = consume(outbox, nn.CrossEntropyLoss())
loss.backward()
print(round(loss.item(), 4), [round(p.grad.norm().item(), 4) for p in model.parameters()])
