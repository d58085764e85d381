# attacks: TPL001
# promise: an attribute that is read can be assigned to
"""A policy shows its log standard deviation through a read-only property."""
import torch
from torch import nn

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 2)
        self._weight = nn.Parameter(torch.zeros(2))

    @property
    def weight(self):
        return self._weight

    def forward(self, x):
        return self.mean(x), self.weight.exp()


policy = Policy()
policy.weight.data -= 0.5
mean, deviation = policy(torch.ones(1, 3))
(mean * deviation).sum().backward()
print([round(v, 5) for v in deviation.tolist()], [round(v, 5) for v in policy.weight.grad.tolist()])
