# attacks: TPL003
# promise: an initialiser changes the parameter itself
# stays safe: yes
"""Parameters are initialised in the old way, with the result assigned to .data."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 4)
layer.weight.data = nn.init.xavier_uniform_(layer.weight.data)
layer.bias.data = nn.init.constant_(layer.bias.data, 0.1)
out = layer(torch.ones(2, 3))
out.sum().backward()
print([round(v, 5) for v in out.flatten().tolist()], layer.weight.is_leaf, layer.bias.requires_grad)
print(layer.weight.grad.tolist())
