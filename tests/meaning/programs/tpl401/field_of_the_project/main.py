# attacks: TPL401
# promise: what has `new_zeros` is a tensor; this field of another file takes no dtype
import torch
from fields import Field


def pad(field, count):
    extra = field.new_zeros(count).double()
    return torch.cat([field.values.double(), extra])


print(pad(Field(torch.ones(2)), 3).tolist())
