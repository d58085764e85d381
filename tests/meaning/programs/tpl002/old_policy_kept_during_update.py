# attacks: TPL002
# promise: a value that was read before a step may share the version counter of the weight
"""The last layer is stepped by hand for its unused classes, while the loss that read the used ones waits."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 4, bias=False)
encoder = nn.Linear(3, 3)
x = torch.randn(5, 3)
frozen = layer.weight.data[:2]
loss = (encoder(x) @ frozen.t()).pow(2).mean()
with torch.no_grad():
    layer.weight[2:].mul_(0.5)
loss.backward()
print(round(loss.item(), 6), [round(v, 6) for v in encoder.bias.grad.tolist()])
print([round(v, 5) for v in layer.weight.sum(1).tolist()])
