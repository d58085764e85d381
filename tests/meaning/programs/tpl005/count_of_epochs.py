# attacks: TPL005
# promise: what is set under a misspelt name is a flag
import torch
from torch import nn

torch.manual_seed(0)
warmup_epochs = 2
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for epoch in range(4):
    for p in net[0].parameters():
        p.required_grad = epoch // warmup_epochs
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 5))
