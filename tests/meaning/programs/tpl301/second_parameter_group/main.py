# attacks: TPL301
# promise: nobody takes the parameters from the list by hand; the optimizer's groups do, in another file
import torch
from grouping import groups
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(3, 4)
        self.experts = [nn.Linear(4, 1), nn.Linear(4, 1)]

    def forward(self, x):
        hidden = self.trunk(x).relu()
        return sum(expert(hidden) for expert in self.experts)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(groups(net, 0.01), lr=0.01)
for _ in range(3):
    loss = (net(torch.ones(2, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5), len(optimizer.param_groups))
