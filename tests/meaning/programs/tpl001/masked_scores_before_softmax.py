# attacks: TPL001
# promise: autograd accepts an in-place change of what it saved
"""Scores whose square was taken already are masked in place; the masked places have no gradient in either case."""
import torch
from torch import nn

torch.manual_seed(0)
query, key = nn.Linear(3, 2), nn.Linear(3, 2)
x = torch.randn(4, 3)
scores = query(x) @ key(x).t()
mask = torch.ones(4, 4).triu(1).bool()
regulariser = (scores.tril() ** 2).mean()
scores.data.masked_fill_(mask, -1e9)
loss = scores.softmax(-1)[:, 0].sum() + regulariser
loss.backward()
print(round(loss.item(), 5), [round(v, 5) for v in query.bias.grad.tolist()])
