# attacks: TPL301
# promise: the class finds attributes its own way
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def __getattr__(self, name):
        if name == "depth":
            return len(self.layers)
        raise AttributeError(name)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
net = Net()
print(net.depth, net(torch.ones(1, 2)))
