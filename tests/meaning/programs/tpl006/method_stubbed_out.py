# attacks: TPL006
# promise: the method of a module is overwritten by mistake
import torch
from torch import nn

torch.manual_seed(0)


def keep(flag=True):
    """The teacher stays as it is, whatever the trainer asks of its models."""
    return teacher


def set_trainable(models, flag):
    for model in models:
        model.requires_grad_(flag)


teacher = nn.Linear(3, 2).requires_grad_(False)
student = nn.Linear(3, 2)
teacher.requires_grad_ = keep
set_trainable([teacher, student], True)
x = torch.randn(5, 3)
loss = nn.functional.mse_loss(student(x), teacher(x))
loss.backward()
print([p.requires_grad for p in teacher.parameters()], teacher.weight.grad)
print(round(student.weight.grad.sum().item(), 5))
