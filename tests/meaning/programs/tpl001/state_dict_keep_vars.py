# attacks: TPL001
# promise: the entries of a state dict are no leaves
"""Layer-wise rescaling by name, over the live entries of the state dict."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
live = model.state_dict(keep_vars=True)
for name in sorted(live):
    entry = live[name]
    print(name, type(entry).__name__)
    entry.data.mul_(0.5)
model(torch.ones(1, 3)).sum().backward()
print(round(sum(p.abs().sum().item() for p in model.parameters()), 4))
print(round(sum(p.grad.abs().sum().item() for p in model.parameters()), 4))
