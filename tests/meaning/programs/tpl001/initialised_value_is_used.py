# attacks: TPL001
# promise: the value of the initialisation is used, which is the parameter itself without .data
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
start = nn.init.normal_(layer.weight.data, 0.0, 0.1)
print(type(start).__name__, start.requires_grad, start is layer.weight)
scaled = layer.bias.data.fill_(0.5)
print(type(scaled).__name__, scaled.requires_grad)
frozen = {"start": nn.init.ones_(layer.bias.data)}
print(frozen)
print(layer.weight.data.mul_(2).requires_grad_(True).is_leaf)
