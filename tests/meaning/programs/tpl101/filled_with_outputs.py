# attacks: TPL101
# promise: a tensor that was made without a graph has none later
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
cell, readout = nn.RNNCell(2, 3), nn.Linear(3, 1)
states = torch.zeros(4, 3)
h = torch.zeros(1, 3)
for t, x in enumerate(torch.randn(4, 1, 2)):
    h = cell(x, h)
    states[t] = h[0]
kept = Variable(states)
readout(kept).pow(2).mean().backward()
print(cell.weight_hh.grad is None, f"{readout.weight.grad.sum().item():.4f}")
