# attacks: TPL001
# promise: weights are set before there is anything else
# stays safe: yes
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
net[0].weight.data.uniform_(-1 / math.sqrt(3), 1 / math.sqrt(3))
net[2].bias.data[0] = 0.5
out = net(torch.ones(2, 3))
out.sum().backward()
print([round(v, 4) for v in net[0].weight.grad.flatten().tolist()], net[2].bias.tolist())
