# attacks: TPL209
# promise: pooled values are kept by the id of the features
import torch
from torch import nn
def run(xs):
    torch.manual_seed(0)
    enc, head = nn.Linear(2, 2), nn.Linear(2, 2)
    total = torch.zeros(2)
    cache = {}
    def pooled(t):
        if id(t) not in cache:
            cache[id(t)] = t.sum(0)
        return cache[id(t)]
    with torch.no_grad():
        for x in xs:
            features = enc(x)
            total += pooled(features)
        return head(total), len(cache)
print(run(torch.arange(12.).view(2, 3, 2)))
