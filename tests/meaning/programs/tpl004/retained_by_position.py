# attacks: TPL004
# promise: the second positional argument of backward keeps the graph
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
criterion = nn.MSELoss()
x, y = torch.randn(6, 3), torch.randn(6, 1)


def epoch():
    total = torch.zeros(())
    for rows in (slice(0, 3), slice(3, 6)):
        loss = criterion(net(x[rows]), y[rows])
        loss.backward(None, True)
        total = total + loss
    return total


sums = epoch()
net.zero_grad()
getattr(sums, "backward")()
print(round(net.weight.grad.abs().sum().item(), 4))
