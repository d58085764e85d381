# attacks: TPL307
# promise: no switch of the file unfreezes the model; `setattr` does
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.body(x).tanh())


def configure(parameters, **flags):
    for p in parameters:
        for name, value in flags.items():
            setattr(p, name, value)


torch.manual_seed(0)
net = Net()
for p in net.body.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(4):
    if step == 2:
        configure(net.parameters(), requires_grad=True)
    optimizer.zero_grad()
    loss = net(torch.ones(2, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5), round(net.body.weight.detach().double().sum().item(), 4))
