# attacks: TPL101
# promise: functions that torch transforms may not make anything require a gradient
import torch
from torch.autograd import Variable


def batched(x):
    z = Variable(torch.sin(x), requires_grad=True)
    return x * z


def summed(x: torch.Tensor):
    y = torch.sin(x)
    z = Variable(y, requires_grad=True)
    return (x * z).sum()


for transformed in (torch.func.vmap(batched), torch.func.grad(summed)):
    try:
        print(transformed(torch.ones(2)))
    except RuntimeError:
        print("refused")
