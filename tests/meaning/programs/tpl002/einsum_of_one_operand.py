# attacks: TPL002
# promise: einsum makes a new tensor
"""A weight is laid out for export under no_grad; the layout is rescaled in the training loop."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
with torch.no_grad():
    layout = torch.einsum("oi->io", layer.weight.data)

for scale in (0.5, 2.0):
    layout.mul_(scale)
layer(torch.ones(1, 3)).sum().backward()
print(layout.requires_grad, [round(v, 5) for v in layout.flatten().tolist()])
print(layer.weight.grad.sum().item())
