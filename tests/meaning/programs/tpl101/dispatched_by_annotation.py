# attacks: TPL101
# promise: nobody reads the annotation when the program runs
from functools import singledispatch

import torch
from torch.autograd import Variable


@singledispatch
def describe(value):
    return f"{type(value).__name__} with sum {float(sum(value)):.3f}"


@describe.register
def _(value: Variable):
    return f"variable of {value.data[0]:.3f}"


@describe.register
def _(value: dict):
    return ", ".join(f"{name} {describe(part)}" for name, part in value.items())


torch.manual_seed(0)
print(describe({"w": torch.ones(3), "b": [1.0, 2.0]}))
