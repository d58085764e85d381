# attacks: TPL010
# promise: an error that None raises is no part of the program
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
x = torch.randn(4, 3)
inner = net[0](x)
loss = net[1](inner).mean()
loss.backward()
report = {"weight": net[0].weight.grad.norm().item()}
try:
    report["inner"] = inner.grad.norm().item()
except AttributeError:
    report["inner"] = 0.0  # an activation, not tracked
print({name: round(value, 6) for name, value in report.items()})
