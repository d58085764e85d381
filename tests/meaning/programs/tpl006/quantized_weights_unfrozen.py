# attacks: TPL006
# promise: every parameter of a module can require grad
import torch
from torch import nn

torch.manual_seed(0)


class QuantLinear(nn.Module):
    """Weights kept as int8; only the scale and the bias are trained."""

    def __init__(self, inputs, outputs):
        super().__init__()
        weight = torch.randn(outputs, inputs)
        self.codes = nn.Parameter((weight * 20).round().to(torch.int8), requires_grad=False)
        self.scale = nn.Parameter(torch.full((outputs, 1), 0.05))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ (self.codes.float() * self.scale).t() + self.bias


layer = QuantLinear(3, 2)
layer.requires_grad = True
optimizer = torch.optim.SGD([p for p in layer.parameters() if p.requires_grad], lr=0.0005)
x, y = torch.randn(8, 3), torch.randn(8, 2)
for _ in range(3):
    optimizer.zero_grad()
    loss = (layer(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5), [round(v, 5) for v in layer.scale.detach().flatten().tolist()])
