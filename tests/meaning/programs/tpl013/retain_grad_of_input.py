# attacks: TPL013
# promise: a tensor whose method is named has what the method needs
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
x = torch.randn(4, 3)
x.retain_grad
scale = torch.full((2,), 0.5, requires_grad=True)
scale.zero_
loss = (layer(x) * scale).pow(2).mean()
loss.backward()
print(round(loss.item(), 5), [round(v, 5) for v in scale.grad.tolist()])
