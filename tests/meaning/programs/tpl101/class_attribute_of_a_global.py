# attacks: TPL101
# promise: a class wraps globals under their own names, and has them as attributes by that alone
import enum

import torch
from torch import nn
from torch.autograd import Variable

mean, low = torch.zeros(2), torch.zeros(1)
scale, shift = torch.ones(2), torch.zeros(2)


class Net(nn.Module):
    mean = Variable(mean)

    def forward(self, x):
        return x - self.mean


class Norm:
    scale, shift = Variable(scale), Variable(shift)
    eps = 1e-5


class Bound(enum.Enum):
    low = Variable(low)
    high = 1


Net.mean.requires_grad_()
print(Net()(torch.ones(2)), mean.requires_grad)
print(Norm.scale, Norm.shift, Norm.scale is scale)
print(list(Bound.__members__))
