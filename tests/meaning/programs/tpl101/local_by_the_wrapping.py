# attacks: TPL101
# promise: a name is local to the function by the assignment alone, so that without it the global is found
import torch
from torch.autograd import Variable

x = torch.ones(2)


def f():
    try:
        x = Variable(x)
    except UnboundLocalError:
        return "unbound"
    return x


print(f())
