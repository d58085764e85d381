# attacks: TPL001
# promise: a tensor without grad shares its memory with no leaf
"""A parameter is made over a pretrained table; a special row of the table is filled in during the forward passes."""
import torch
from torch import nn

torch.manual_seed(0)
table = torch.randn(4, 3)
weight = nn.Parameter(table)
query = torch.randn(2, 3, requires_grad=True)
scores = query @ weight[:3].t()
loss = scores.logsumexp(1).sum()
table.data[3] = query.mean(0).detach()
loss.backward()
print(round(loss.item(), 5), [round(v, 5) for v in query.grad.flatten().tolist()])
print([round(v, 5) for v in weight.grad.sum(1).tolist()], round(weight[3].sum().item(), 5))
