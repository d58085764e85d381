# attacks: TPL009
# promise: what parameters() gives may become a list
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
start = net.parameters()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
optimizer.zero_grad()
net(torch.ones(1, 2)).sum().backward()
optimizer.step()
first = next(start)
rest = [round(p.sum().item(), 5) for p in start]
print(tuple(first.shape), round(first.sum().item(), 5), rest, list(start))
