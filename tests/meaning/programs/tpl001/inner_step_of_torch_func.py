# attacks: TPL001
# promise: inside a transform a weight is a leaf as everywhere
"""Per-task gradients by torch.func of a module that rescales its weight in its forward."""
import torch
from torch import nn
from torch.func import functional_call, grad

torch.manual_seed(0)


class Rescaled(nn.Linear):
    def forward(self, x):
        self.weight.data.mul_(0.5)
        return super().forward(x)


layer = Rescaled(3, 2)
weights = {name: p.detach().clone() for name, p in layer.named_parameters()}
x = torch.randn(4, 3)
gradients = grad(lambda w: functional_call(layer, w, (x,)).pow(2).mean())(weights)
print({name: [round(v, 5) for v in g.flatten().tolist()] for name, g in gradients.items()})
