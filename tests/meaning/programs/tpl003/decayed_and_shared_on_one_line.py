# attacks: TPL003
# promise: three rules on one line change it once
"""A target takes the memory of the decayed source; later changes of the source reach it, on purpose."""
import torch
from torch import nn

torch.manual_seed(0)
source, target = nn.Linear(2, 2), nn.Linear(2, 2)
for s, t in zip(source.parameters(), target.parameters()):
    t.data = s.data.mul_(0.5).add_(t.data)
before = [round(p.sum().item(), 5) for p in target.parameters()]
optimizer = torch.optim.SGD(source.parameters(), lr=0.1)
source(torch.ones(1, 2)).sum().backward()
optimizer.step()
print(before, [round(p.sum().item(), 5) for p in target.parameters()])
print([s.data_ptr() == t.data_ptr() for s, t in zip(source.parameters(), target.parameters())])
