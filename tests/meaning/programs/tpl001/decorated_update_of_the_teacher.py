# attacks: TPL001
# promise: autograd is off in the update, but a loss that has saved the weights still waits
import torch
import torch.nn as nn

torch.manual_seed(0)
student, teacher = nn.Linear(3, 3), nn.Linear(3, 1)


@torch.no_grad()
def soften(momentum):
    teacher.weight.data.mul_(momentum)
    teacher.bias.data.mul_(momentum)


def fit(steps):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for _ in range(steps):
        loss = teacher(torch.tanh(student(torch.ones(2, 3)))).mean()
        soften(0.9)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


fit(2)
print([round(v, 4) for v in student.weight.flatten().tolist()])
