# attacks: TPL002
# promise: the test that it is a tensor was made of another value
import collections

import torch

Batch = collections.namedtuple("Batch", "data lengths")


def unpack(item, fallback):
    if not isinstance(item, torch.Tensor):
        item = fallback
    return item.data.sum()


class Box:
    def __init__(self, data):
        self.data = data


print(unpack(torch.ones(2), None).item())
print(unpack([1], Box(torch.ones(3))).item())


def total(value):
    assert torch.is_tensor(value) or isinstance(value, Batch)
    return torch.max(value.data, 0)[0]


print(total(Batch(torch.tensor([1.0, 4.0]), [2])).item())
