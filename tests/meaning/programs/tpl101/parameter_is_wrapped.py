# attacks: TPL101
# promise: wrapping gives an object of its own, of the class of tensors
import copy

import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
weight = nn.Parameter(torch.ones(2))
plain = Variable(weight)
print(type(plain).__name__, plain.requires_grad, plain is weight)
x = torch.zeros(2)
v = Variable(x)
v += 1
print(x.tolist(), v._version, x._version)
twins = {Variable(x): "first"}
print(len(twins), x in twins, len({id(v), id(x)}))
moved = Variable(torch.ones(3)).to(torch.float64)
print(moved.dtype, copy.copy(v) is v)
