# attacks: TPL307
# promise: what is frozen stays so; a callback of another file thaws it
import torch
from schedule import maybe_thaw
from torch import nn

torch.manual_seed(0)
model = nn.Sequential()
model.add_module("backbone", nn.Linear(3, 4))
model.add_module("head", nn.Linear(4, 1))
for p in model.backbone.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    maybe_thaw(model, epoch)
    loss = (model(torch.ones(2, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5), [round(p.detach().double().sum().item(), 4) for p in model.parameters()])
