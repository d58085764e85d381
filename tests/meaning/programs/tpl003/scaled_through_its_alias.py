# attacks: TPL003
# promise: a change through a detached alias on the line of an assignment to .data stays what it is
"""A weight is scaled through a detached alias whose result is assigned back."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)
tied = layer.weight
alias = layer.weight.detach()
layer.weight.data = alias.mul_(0.5)
print(tied is layer.weight, layer.weight.data_ptr() == alias.data_ptr())
layer(torch.ones(1, 2)).sum().backward()
alias.zero_()
print(layer.weight.tolist(), layer.weight.grad.tolist())
