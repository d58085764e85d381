# attacks: TPL101
# promise: singledispatch goes by the class, and no tensor is of the class Variable
import functools

import torch
from torch.autograd import Variable


@functools.singledispatch
def describe(value):
    return "something"


@describe.register(Variable)
def _(value):
    return "variable"


@describe.register(list)
def _(value):
    return "list"


print(describe(torch.ones(2)), describe([1]), issubclass(torch.Tensor, Variable))
print(isinstance(torch.ones(1), Variable), isinstance(3, Variable))
