# attacks: TPL001
# promise: under no_grad the leaf itself can be changed
# stays safe: yes
"""Rows of a weight are projected to unit norm, already under no_grad."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 4, bias=False)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.2)
for _ in range(3):
    optimizer.zero_grad()
    layer(torch.randn(5, 3)).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        layer.weight.data.div_(layer.weight.norm(dim=1, keepdim=True))
print([round(v, 5) for v in layer.weight.norm(dim=1).tolist()])
print([round(v, 5) for v in layer.weight.flatten().tolist()])
