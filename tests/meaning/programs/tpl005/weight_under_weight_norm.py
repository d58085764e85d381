# attacks: TPL005
# promise: the weight of a normed layer is computed, and refuses the flag
import torch
import torch.nn as nn
from torch.nn.utils import weight_norm

torch.manual_seed(0)
conv = weight_norm(nn.Conv1d(1, 2, 3))
conv.weight.requres_grad = False
conv.bias.requres_grad = False
print(sorted(name for name, p in conv.named_parameters() if p.requires_grad))
out = conv(torch.ones(1, 1, 5)).sum()
out.backward()
print(round(conv.weight_v.grad.abs().sum().item(), 4))
