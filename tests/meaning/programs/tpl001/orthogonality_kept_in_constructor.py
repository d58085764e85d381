# attacks: TPL001
# promise: the penalty of the constructor is a closure, not yet called back
import torch
import torch.nn as nn

torch.manual_seed(0)


class Rotation(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.turn = nn.Parameter(torch.eye(size) + 0.1 * torch.randn(size, size))
        self._penalty = (self.turn @ self.turn.t() - torch.eye(size)).pow(2).sum()
        self.bias = nn.Parameter(torch.ones(size))
        self.bias.data.mul_(0.5)
        u, _, v = torch.linalg.svd(self.turn.detach())
        self.turn.data.copy_(u @ v)

    def forward(self, x):
        return x @ self.turn + self.bias


model = Rotation(2)
(model(torch.ones(1, 2)).sum() + model._penalty).backward()
print([round(v, 4) for v in model.turn.grad.flatten().tolist()])
