# attacks: TPL002
# promise: what torch.cat makes of a comprehension has no graph
"""Distillation from the student's own averaged views; the views come from an imported function."""
import torch
from torch import nn
from views import augmented

torch.manual_seed(0)
student = nn.Linear(3, 2)
x = torch.randn(4, 3)
views = torch.stack([augmented(student, x, k) for k in range(3)])
teacher = views.data.mean(0)
loss = nn.functional.mse_loss(student(x), teacher * 0.5)
loss.backward()
print(teacher.requires_grad, round(loss.item(), 6))
print([round(v, 6) for v in student.weight.grad.flatten().tolist()])
