# attacks: TPL006
# promise: all parameters of the module were meant
import math

import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        angles = torch.arange(length)[:, None] / (10 ** (torch.arange(width) / width * 2 * math.log(2)))
        self.positions = nn.Parameter(angles.sin(), requires_grad=False)
        self.project = nn.Linear(width, width)

    def forward(self, x):
        return self.project(x + self.positions)


encoder = Encoder(4, 5)
encoder.requires_grad = True
table = encoder.positions.clone()
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.5)
for _ in range(3):
    optimizer.zero_grad()
    encoder(torch.randn(2, 5, 4)).pow(2).mean().backward()
    optimizer.step()
print("table kept:", torch.equal(table, encoder.positions))
print(round(encoder.project.weight.sum().item(), 5))
