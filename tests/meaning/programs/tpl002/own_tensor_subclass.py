# attacks: TPL002
# promise: `detach` of a subclass is that of torch
"""A tensor with units: detaching converts to plain numbers, its data keeps the unit."""
import torch

torch.manual_seed(0)


class Metres(torch.Tensor):
    def detach(self):
        return super().detach().as_subclass(torch.Tensor) / 1000


def longest(distances: Metres):
    return torch.max(distances.data, 0)


distances = torch.tensor([120.0, 4500.0, 900.0]).as_subclass(Metres)
value, index = longest(distances)
print(type(value).__name__, round(float(value), 3), int(index))
