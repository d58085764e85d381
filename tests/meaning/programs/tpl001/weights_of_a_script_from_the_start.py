# attacks: TPL001
# promise: before anything is computed nothing can have been saved
# stays safe: yes
"""A script initialises by type, trains, keeps an average and bounds its weights behind each step."""
import copy

import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x))


def init_weights(m):
    if isinstance(m, nn.Linear):
        m.weight.data.normal_(0.0, 0.2)
        m.bias.data.fill_(0.1)
    elif isinstance(m, nn.BatchNorm1d):
        m.weight.data.uniform_(0.9, 1.1)


model = Block(4, 2)
model.apply(init_weights)
average = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(4):
    x = torch.randn(8, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p in model.parameters():
        p.data.clamp_(-0.8, 0.8)
    for a, p in zip(average.parameters(), model.parameters()):
        a.data.mul_(0.9).add_(p.data, alpha=0.1)
    print(epoch, round(loss.item(), 5))
print(round(sum(p.sum().item() for p in average.parameters()), 5))
