# attacks: TPL003
# promise: the initialiser is given something else than what it is assigned to
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)
layer.weight.data = nn.init.orthogonal_(layer.weight.data.double()).float()
layer.bias.data = nn.init.zeros_(layer.bias.data[:1]).expand(2)
print(round(layer.weight.norm().item(), 4), layer.bias.stride())
kept = layer.weight.data
layer.weight.data = nn.init.ones_(layer.weight.data)
print(kept is layer.weight, kept.tolist(), type(kept).__name__)
