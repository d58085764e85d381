# attacks: TPL106
# promise: imported names are renamed with all their uses
# stays safe: yes
import torch
from torch import nn
from torch.nn.functional import sigmoid, tanh as squash
from torch.nn.init import normal, orthogonal
from torch.nn.utils import clip_grad_norm as clip

torch.manual_seed(0)
layer = nn.Linear(3, 3)
orthogonal(layer.weight)
normal(layer.bias, mean=0.5, std=0.1)
out = squash(layer(torch.randn(4, 3)))
activations = {"gate": sigmoid, "squash": squash}
loss = sum(function(out).sum() for function in activations.values())
loss.backward()
print(round(float(clip(layer.parameters(), 0.5)), 5), round(layer.bias.grad.sum().item(), 5), sorted(activations))
