# attacks: TPL102
# promise: the loss that is indexed was handed out before, and given a dimension in place
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
criterion = nn.MSELoss()


def measured(x, y):
    loss = criterion(net(x), y)

    def value():
        return loss

    return value


def pair(x, y):
    loss = criterion(net(x), y)
    return loss, loss


x, y = torch.randn(5, 4), torch.randn(5, 1)
value = measured(x, y)
value().unsqueeze_(0)
same = value()
print("%.4f" % same.data[0], type(same.data[0]).__name__)
shown, kept = pair(x, y)
shown.unsqueeze_(0)
print("%.4f" % kept.data[0], kept.data[0].shape)
total = criterion(net(x), y)
other = total
other.unsqueeze_(0)
print("%.4f" % total.data[0], total.data[0].shape)
