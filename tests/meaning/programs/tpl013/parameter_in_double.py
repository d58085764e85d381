# attacks: TPL013
# promise: what a method gives can take the place of what it is called on
import torch
from torch import nn

torch.manual_seed(0)


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        self.weight.double
        return x * self.weight


scale = Scale(3)
optimizer = torch.optim.SGD(scale.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    scale(torch.randn(4, 3)).pow(2).mean().backward()
    optimizer.step()
print(scale.weight.dtype, [round(v, 5) for v in scale.weight.tolist()])
