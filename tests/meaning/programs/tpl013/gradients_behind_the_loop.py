# attacks: TPL013
# promise: the gradients of the last round are read behind the loop
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(2, 1, 2):
    net(x).sum().backward()
    opt.step()
    opt.zero_grad
norm = torch.stack([p.grad.norm() for p in net.parameters()])
print(norm)
