# attacks: TPL301
# promise: blocks that are appended one by one, and run in order, give the same outputs
# stays safe: yes
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x)))


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.stem = nn.Linear(3, width)
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(Residual(width))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return x


torch.manual_seed(0)
print(round(Net(4, 3)(torch.ones(2, 3)).sum().item(), 4))
