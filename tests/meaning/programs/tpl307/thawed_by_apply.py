# attacks: TPL307
# promise: no switch of the file unfreezes the model; `apply` runs one on each part
import torch
from torch import nn


def train_it(module):
    module.requires_grad_()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.backbone(x).relu())


torch.manual_seed(0)
model = Net()
model.backbone.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    if epoch == 2:
        model.apply(train_it)
    loss = (model(torch.ones(2, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5), [round(p.detach().double().sum().item(), 4) for p in model.parameters()])
