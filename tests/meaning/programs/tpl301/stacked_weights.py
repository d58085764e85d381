# attacks: TPL301
# promise: a parameter list is used like the list that it replaces; `torch.stack` wants a list
import torch
from torch import nn


class LowRank(nn.Module):
    def __init__(self, size, ranks):
        super().__init__()
        self.factors = [nn.Parameter(torch.randn(size)) for _ in range(ranks)]

    def forward(self, x):
        basis = torch.stack(self.factors)
        return x @ basis.T @ basis


torch.manual_seed(0)
model = LowRank(4, 2)
y = model(torch.ones(3, 4))
print(y.shape, round(y.sum().item(), 4))
