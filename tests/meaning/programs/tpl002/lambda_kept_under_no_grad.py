# attacks: TPL002
# promise: what stands in a no_grad block runs with autograd off
"""Teachers are collected under no_grad as functions that are called in the training loop."""
import torch
from torch import nn

torch.manual_seed(0)
student = nn.Linear(3, 2)
anchor = nn.Parameter(torch.randn(3, 2))
teachers = []
with torch.no_grad():
    anchor.mul_(0.5)
    teachers.append(lambda x: x @ (anchor.data * 2))
    rows = (row.data + 1 for row in (anchor[0], anchor[1]))

x = torch.randn(4, 3)
target = teachers[0](x)
loss = (student(x) - target).pow(2).mean() + sum(row.sum() for row in rows)
loss.backward()
print(target.requires_grad, round(loss.item(), 5), anchor.grad)
print([round(v, 5) for v in student.bias.grad.tolist()])
