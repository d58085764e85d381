# attacks: TPL001
# promise: the function that apply is given keeps a product of the weights before it scales them
import torch
import torch.nn as nn

torch.manual_seed(0)


class Bounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = []
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 1)
        self.apply(self._scale)

    def _scale(self, layer):
        if isinstance(layer, nn.Linear):
            self.norms.append(layer.weight.pow(2).sum())
            layer.weight.data.mul_(0.1)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


net = Bounded()
loss = net(torch.ones(2, 3)).mean() + sum(net.norms)
loss.backward()
print(round(net.first.weight.grad.abs().sum().item(), 4))
