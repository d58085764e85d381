# attacks: TPL013
# promise: the hidden values are computed once for all steps
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(4, 2)
hidden = net[1](net[0](x))
for k in range(3):
    opt.zero_grad()
    loss = net[2](hidden).pow(2).mean()
    loss.backward(retain_graph=True)
    opt.step
print(loss.item())
