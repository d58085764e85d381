# attacks: TPL104
# promise: every parameter can be detached
"""The bytes of a model are added up before and after its lazy layer has seen a batch."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 1))


def size():
    return sum(p.data.numpy().nbytes for p in model.parameters())


before = size()
out = model(torch.ones(2, 5))
out.sum().backward()
print(before, size(), round(out.sum().item(), 5))
