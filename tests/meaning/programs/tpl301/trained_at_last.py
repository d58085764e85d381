# attacks: TPL301
# promise: the training is the same but for the layers that it missed
# shows: the hidden layers are among the parameters, and are trained
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(3, 3), nn.Linear(3, 3)]
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x).relu()
        return self.out(x)


torch.manual_seed(0)
net = MLP()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    (net(torch.ones(2, 3)) - 1).pow(2).mean().backward()
    optimizer.step()
print(len(list(net.parameters())), round(net.hidden[0].weight.detach().double().sum().item(), 4))
