# attacks: TPL002
# promise: the forward of a module of the file gives a tensor
# stays safe: yes
"""Pseudo labels from a teacher that is defined here."""
import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return functional.softmax(self.fc(x), dim=1)


teacher, student = Net(), Net()
x = torch.randn(4, 3)
soft = teacher(x)
hard = soft.data.argmax(1)
loss = -(soft.data * student(x).log()).sum(1).mean()
loss.backward()
print(hard.tolist(), round(loss.item(), 5), teacher.fc.weight.grad)
print(round(student.fc.bias.grad.abs().sum().item(), 5))
