# attacks: TPL001
# promise: iterators of itertools over weights hold no graph
# stays safe: yes
import itertools
import random

import torch
import torch.nn as nn

torch.manual_seed(0)
random.seed(0)
one, other = nn.Linear(2, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD(itertools.chain(one.parameters(), other.parameters()), lr=0.1)
sizes = sorted([4, 2, 3])
for step, size in itertools.product(range(2), sizes):
    optimizer.zero_grad()
    other(one(torch.ones(size, 2))).mean().backward()
    optimizer.step()
    one.weight.data.clamp_(-0.2, 0.2)
    weights = list(itertools.chain(one.parameters(), other.parameters()))
    print(step, random.choice(sizes), [round(w.sum().item(), 4) for w in weights])
