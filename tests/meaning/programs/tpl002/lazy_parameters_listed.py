# attacks: TPL002
# promise: every parameter can be detached
"""The parameters of a lazy model are listed, with their state, before its first batch."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.Linear(4, 2))
before = [p.data for p in model.parameters()]
print([type(t).__name__ for t in before], len(before))
out = model(torch.randn(3, 5))
out.sum().backward()
print([tuple(p.data.shape) for p in model.parameters()], round(out.sum().item(), 5))
