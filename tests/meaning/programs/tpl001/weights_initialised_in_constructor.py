# attacks: TPL001
# promise: weights can be initialised directly
# stays safe: yes
"""A module initialises its layers in its constructor."""
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)
        self.first.weight.data.normal_(0, 0.02)
        self.first.bias.data.zero_()
        self.second.weight.data.uniform_(-0.1, 0.1)
        self.second.bias.data.fill_(0.5)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


net = Net()
out = net(torch.ones(2, 3))
out.sum().backward()
print([round(v, 5) for v in out.flatten().tolist()])
print([(n, p.requires_grad, round(p.grad.sum().item(), 5)) for n, p in net.named_parameters()])
