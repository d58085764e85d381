# attacks: TPL301
# promise: the attribute only ever holds what `__init__` gave it; a method assigns another list
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]

    def prune(self, keep):
        self.layers = [layer for index, layer in enumerate(self.layers) if index in keep]

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


torch.manual_seed(0)
net = Stack(4, 3)
x = torch.randn(2, 4)
print(round(net(x).sum().item(), 4))
net.prune({0, 2})
print(len(net.layers), round(net(x).sum().item(), 4))
