# attacks: TPL002
# promise: a tensor made by torch.zeros has no graph where it is read
"""Logits of two branches are written into one tensor; soft labels are taken from it."""
import torch
from torch import nn

torch.manual_seed(0)
coarse, fine = nn.Linear(3, 2), nn.Linear(3, 2)
x = torch.randn(4, 3)
logits = torch.zeros(4, 4)
logits[:, :2] = coarse(x)
logits[:, 2:] = fine(x)
labels = logits.data.softmax(-1)
loss = -(labels * logits.log_softmax(-1)).sum(-1).mean()
loss.backward()
print(labels.requires_grad, round(loss.item(), 6))
print([round(v, 6) for v in coarse.bias.grad.tolist() + fine.bias.grad.tolist()])
