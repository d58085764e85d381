# attacks: TPL103
# promise: the flag is an attribute that code asks for
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)


def frozen(**named):
    return [name for name, value in named.items() if getattr(value, "volatile", None) is False]


x = torch.ones(2, 3)
x.volatile = False
w = torch.ones(3)
print(frozen(x=x, w=w), sorted(vars(x)))
layer = nn.Linear(3, 1)
y = torch.zeros(2, 3)
y.volatile = False
print(round(layer(y).sum().item(), 4), y.__dict__)
