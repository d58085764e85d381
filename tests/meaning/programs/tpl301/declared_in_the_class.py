# attacks: TPL301
# promise: the class has an annotation of that name, and no value
# stays safe: yes
import torch
from torch import nn


class Net(nn.Module):
    layers: list
    width: int = 2

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(self.width, self.width) for _ in range(2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
with torch.no_grad():
    print(Net()(torch.ones(1, 2)))
