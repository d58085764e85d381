# attacks: TPL001
# promise: a cache goes by the version of the weight, which .data does not touch
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
cache = {}


def rounded(weight):
    if cache.get("version") != weight._version:
        cache.update(version=weight._version, value=(weight.detach() * 8).round() / 8)
    return cache["value"]


print(rounded(layer.weight).flatten().tolist())
layer.weight.data.mul_(0.5)
print(rounded(layer.weight).flatten().tolist())
layer.weight.data[0] = 1.0
print(layer.weight._version, rounded(layer.weight).flatten().tolist())
