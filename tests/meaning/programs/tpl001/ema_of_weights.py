# attacks: TPL001
# promise: the averaged model is a leaf that nothing back-propagates through
# stays safe: yes
"""A target network follows the online network."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Linear(3, 3)
target = copy.deepcopy(online)
optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    loss = (online(x) - target(x).detach()).pow(2).mean() + online(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p, q in zip(online.parameters(), target.parameters()):
        q.data.mul_(0.9).add_(0.1 * p.data)
    print(round(loss.item(), 5))
print([round(q.sum().item(), 5) for q in target.parameters()])
