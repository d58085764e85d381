# attacks: TPL001
# promise: a layer's own parameters are leaves that were just made
# stays safe: yes
"""A graph convolution resets its parameters as the classic implementation does."""
import math

import torch
from torch import nn

torch.manual_seed(0)


class GraphConvolution(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.empty(n_out))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, x, adjacency):
        return adjacency @ (x @ self.weight) + self.bias


layer = GraphConvolution(3, 2)
out = layer(torch.randn(4, 3), torch.eye(4))
out.sum().backward()
print([round(v, 5) for v in out.flatten().tolist()], layer.bias.grad.tolist())
