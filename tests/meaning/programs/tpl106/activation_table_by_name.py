# attacks: TPL106
# promise: the functions are told apart by what they are called and where they are from
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
ACTIVATIONS = [F.relu, F.tanh, F.sigmoid]
print([f"{one.__module__}.{one.__name__}" for one in ACTIVATIONS])
x = torch.linspace(-1, 1, 3)
print([[round(v, 4) for v in one(x).tolist()] for one in ACTIVATIONS])
gains = {F.tanh: 5 / 3, F.relu: 2 ** 0.5, torch.tanh: 1.0}
print(len(gains), F.tanh in gains)
print(nn.init.calculate_gain(F.tanh.__name__))
