# attacks: TPL104
# promise: the output of a layer can be detached
# stays safe: yes
"""Predictions are collected as arrays."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
collected = []
for _ in range(3):
    x = torch.randn(4, 3)
    collected.append(torch.softmax(net(x), 1).data.cpu().numpy())
print(np.concatenate(collected).round(4).tolist())
