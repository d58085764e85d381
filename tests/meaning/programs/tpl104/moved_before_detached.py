# attacks: TPL104
# promise: detaching before the move gives the same array
# stays safe: yes
"""Losses per sample, moved to the host first."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
x, y = torch.randn(5, 3), torch.randn(5, 1)
losses = nn.functional.mse_loss(net(x), y, reduction="none")
array = losses.cpu().data.numpy()
losses.mean().backward()
print(array.round(5).flatten().tolist(), round(net.bias.grad.item(), 5))
