# attacks: TPL002
# promise: the argument of a forward is a tensor
"""A layer gets a batch object with features and edges, as graph libraries have it."""
from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(0)


@dataclass
class Points:
    data: torch.Tensor
    index: torch.Tensor


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, points):
        features = torch.relu(self.fc(torch.clone(points.data)))
        return torch.zeros(2, 2).index_add(0, points.index, features)


layer = Layer()
out = layer(Points(torch.randn(4, 2), torch.tensor([0, 1, 1, 0])))
out.sum().backward()
print([round(v, 5) for v in out.flatten().tolist()], [round(v, 5) for v in layer.fc.bias.grad.tolist()])
