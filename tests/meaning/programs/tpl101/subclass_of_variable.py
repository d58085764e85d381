# attacks: TPL101
# promise: `issubclass` says of the tensor what it says of Variable
import torch
from torch.autograd import Variable


def convert(value):
    if issubclass(type(value), Variable):
        return value.data.numpy()[0]
    if isinstance(value, torch.Tensor):
        return value.sum().item()
    return value


torch.manual_seed(0)
print([f"{convert(value):.4f}" for value in (torch.ones(3), torch.tensor(2.0), 1)])
