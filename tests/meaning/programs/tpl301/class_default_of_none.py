# attacks: TPL301
# promise: the class has a value of that name, which hides what is registered
import torch
from torch import nn


class Net(nn.Module):
    layers = None

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
print(Net()(torch.ones(1, 2)))
