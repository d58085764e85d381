# attacks: TPL001
# promise: a clamp in a forward comes before every use of the weight that a backward needs
"""A monotonic layer clamps its weight in its forward and is applied again and again."""
import torch
from torch import nn

torch.manual_seed(0)


class Monotonic(nn.Linear):
    def forward(self, x):
        self.weight.data.clamp_(min=0)
        return torch.tanh(super().forward(x))


layer = Monotonic(3, 3)
x = torch.randn(2, 3)
for _ in range(3):
    x = layer(x)
x.sum().backward()
print([round(v, 5) for v in x.flatten().tolist()])
print([round(v, 5) for v in layer.weight.grad.flatten().tolist()])
