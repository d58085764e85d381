# attacks: TPL001
# promise: an attribute called weight is a leaf
"""An orthogonal-ish layer is nudged while its parametrized weight is cached, between two uses of it."""
import torch
from torch import nn
from torch.nn.utils import parametrize

torch.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, w):
        return (w + w.t()).tanh()


layer = nn.Linear(3, 3, bias=False)
parametrize.register_parametrization(layer, "weight", Symmetric())
x = torch.randn(4, 3)
with parametrize.cached():
    layer.weight.data.clamp_(-1, 1)
    loss = layer(x).pow(2).mean()
    loss.backward()
print(round(loss.item(), 5))
print([round(v, 5) for v in layer.parametrizations.weight.original.grad.flatten().tolist()])
