# attacks: TPL001
# promise: a list that is empty where it is made holds no graph behind the change
"""Losses of all rounds are back-propagated at the end, through a second name for the list."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 1)
kept = []
losses = kept
for _ in range(3):
    x = torch.randn(4, 3, requires_grad=True)
    losses += [layer(x).pow(2).mean()]
    layer.weight.data.clamp_(-9, 9)
sum(kept).backward()
print([round(v, 5) for v in layer.weight.grad.flatten().tolist()])
