# attacks: TPL001
# promise: nothing was computed with the parts of a module while it is made
"""A network keeps the loss of its first output, which the trainer adds to its own."""
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.head = nn.Linear(3, 1)
        self.prior = self.measure(torch.ones(1, 3))
        self.head.weight.data.clamp_(-9, 9)

    def measure(self, x):
        return self.head(torch.tanh(self.body(x))).pow(2).sum()


net = Net()
net.prior.backward()
print([round(p.grad.abs().sum().item(), 5) for p in net.parameters()])
