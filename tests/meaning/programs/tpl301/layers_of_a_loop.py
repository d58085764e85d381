# attacks: TPL301
# promise: a forward pass through a list of layers gives the same outputs
# stays safe: yes
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = [nn.Linear(i, o) for i, o in zip(sizes, sizes[1:])]
        self.depth = len(self.layers)

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x)
            if index < self.depth - 1:
                x = torch.relu(x)
        return x


torch.manual_seed(0)
net = MLP([4, 8, 8, 2])
y = net(torch.randn(3, 4))
y.sum().backward()
print(y.shape, round(y.sum().item(), 4), round(net.layers[0].weight.grad.norm().item(), 4))
