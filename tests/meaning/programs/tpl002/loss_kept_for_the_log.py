# attacks: TPL002
# promise: a loss without its graph is what a log needs
# stays safe: yes
"""Losses are logged through .data."""
import torch
from torch import nn

torch.manual_seed(0)
net, criterion = nn.Linear(3, 1), nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
log = []
for _ in range(4):
    loss = criterion(net(torch.randn(5, 3)), torch.randn(5, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.append(loss.data)
print([round(v.item(), 5) for v in log], [v.requires_grad for v in log])
