# attacks: TPL301
# promise: an attribute is read as an attribute; a tool of another file reads the object's dictionary
import torch
from describe import depth_of
from torch import nn


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [nn.Linear(2, 2) for _ in range(depth)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
net = Net(3)
print(depth_of(net), round(net(torch.ones(1, 2)).sum().item(), 4))
