# attacks: TPL103
# promise: a flag that a helper hands on is true or false, and no error is awaited
# stays safe: yes
import torch
from torch.autograd import Variable


def wrap(x, volatile=False):
    with torch.no_grad():
        return Variable(x, volatile=volatile)


def leaf(x):
    return Variable(x, requires_grad=True, volatile=False)


print(wrap(torch.ones(2)), wrap(torch.ones(2), volatile=True), leaf(torch.ones(2)))
