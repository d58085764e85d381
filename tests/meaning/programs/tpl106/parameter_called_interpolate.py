# attacks: TPL106
# promise: the new name of a function is free wherever the old one is called
import torch
from torch.nn.functional import upsample

torch.manual_seed(0)


def resize(maps, interpolate, sigmoid=False):
    if interpolate:
        maps = upsample(maps, scale_factor=2)
    return maps.sigmoid() if sigmoid else maps


maps = torch.randn(1, 1, 2, 2)
print(tuple(resize(maps, True).shape), tuple(resize(maps, False).shape))
print(round(resize(maps, interpolate=True, sigmoid=True).sum().item(), 5))
