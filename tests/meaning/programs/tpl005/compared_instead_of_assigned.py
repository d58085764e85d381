# attacks: TPL005
# promise: parameters are compared where they should be frozen
# shows: the comparison froze nothing
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
for p in net[0].parameters():
    p.requires_grad == False
net(torch.randn(4, 2)).sum().backward()
print([p.grad is None for p in net.parameters()])
