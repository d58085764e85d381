# attacks: TPL106
# promise: `next` of what iterates over a loader does what its `.next()` does
import torch

from prefetch import PrefetchLoader

torch.manual_seed(0)
train_loader = PrefetchLoader([torch.randn(2, 3) for _ in range(3)])
batches = iter(train_loader)
total, count = torch.zeros(3), 0
batch = batches.next()
while batch is not None:
    total, count = total + batch.sum(0), count + 1
    batch = batches.next()
print(count, [round(v, 5) for v in total.tolist()])
