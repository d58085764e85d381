# attacks: TPL001
# promise: a cache of results holds the graph of an earlier call
import functools

import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(2, 3), nn.Linear(3, 1)


@functools.lru_cache(maxsize=None)
def value(a, b):
    return head(torch.tanh(body(torch.tensor([[a, b]])))).sum()


print(round(value(1.0, 2.0).item(), 4))
head.weight.data.add_(1.0)
loss = value(1.0, 2.0)
loss.backward()
print([round(v, 4) for v in body.bias.grad.tolist()])
