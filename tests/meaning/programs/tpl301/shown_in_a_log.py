# attacks: TPL301
# promise: the list is only read; a log line shows it
# shows: the layers are in a ModuleList, and shown as that
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        print("layers:", self.layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
print(round(Net()(torch.ones(1, 2)).sum().item(), 4))
