# attacks: TPL009
# promise: initial weights are compared with the trained ones
# shows: the weights had not moved, as they were compared with themselves
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
initial = [p.detach() for p in net.parameters()]
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 2)).pow(2).mean().backward()
    optimizer.step()
moved = [not torch.equal(a, b) for a, b in zip(initial, net.parameters())]
print(any(moved))
