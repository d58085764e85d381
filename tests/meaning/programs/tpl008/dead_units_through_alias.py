# attacks: TPL008
# promise: a change through a detached alias is meant to reach the tensor
"""Outputs of dead units are muted in place, for the forward pass only."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 4)
out = layer(torch.randn(5, 3))
muted = out.detach()
muted[:, 1] = 0
total = out.sum()
total.backward()
print(round(total.item(), 5), out[:, 1].tolist(), [round(v, 4) for v in layer.bias.grad.tolist()])
