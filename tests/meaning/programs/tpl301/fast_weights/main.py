# attacks: TPL301
# promise: a parameter list keeps what is put into it; it makes leaves of tensors that carry a graph
import torch
from adaptation import adapt
from torch import nn


class FastNet(nn.Module):
    """Weights that an inner loop replaces by functions of a learned rate."""

    def __init__(self, width):
        super().__init__()
        self.rate = nn.Parameter(torch.tensor(0.1))
        self.weights = [nn.Parameter(torch.randn(width, width) / width) for _ in range(2)]

    def forward(self, x):
        for weight in self.weights:
            x = (x @ weight).tanh()
        return x


torch.manual_seed(0)
net = FastNet(3)
adapt(net, torch.randn(4, 3))
net(torch.randn(4, 3)).pow(2).sum().backward()
print(net.rate.grad is not None, type(net.weights[0]).__name__)
