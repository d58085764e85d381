# attacks: TPL011
# promise: a Variable is over the memory of the tensor that it was made of
import torch
from torch.autograd import Variable


def scaled(x, learn=False):
    y = torch.sigmoid(x)
    kept = Variable(y)
    y *= 2
    if learn:
        y.sum().backward()
    return kept


print(scaled(torch.full((3,), 0.5, requires_grad=True)).tolist())
