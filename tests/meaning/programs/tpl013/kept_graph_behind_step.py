# attacks: TPL013
# promise: a graph is gone through again behind the step
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(4, 2)
out = net(x)
loss = out.pow(2).mean()
loss.backward(retain_graph=True)
opt.step
print(torch.autograd.grad(out.sum(), net[0].weight))
