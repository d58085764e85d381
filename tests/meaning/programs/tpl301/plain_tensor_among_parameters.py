# attacks: TPL301
# promise: not all of the list are parameters, and a parameter list would make them so
import torch
import torch.nn as nn

torch.manual_seed(0)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = [nn.Parameter(torch.ones(2)), torch.zeros(2)]
        self.steps = [nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))]

    def forward(self, x):
        for scale in self.scales:
            x = x + scale
        return x * self.steps[0]


net = Mixed()
print([s.requires_grad for s in net.scales], type(net.steps).__name__)
print(net(torch.ones(1, 2)).tolist(), net.steps)
