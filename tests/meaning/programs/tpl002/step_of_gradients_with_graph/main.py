# attacks: TPL002
# promise: a gradient has no graph where this file asks for none
"""Gradients left by a penalty carry graph; the step that is logged is meant to be a constant."""
import torch
from regular import penalise
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
penalise(net, torch.randn(4, 3))
steps = [p.grad.data * 0.1 for p in net.parameters()]
print([s.requires_grad for s in steps])
print([s.numpy().round(5).tolist() for s in steps])
