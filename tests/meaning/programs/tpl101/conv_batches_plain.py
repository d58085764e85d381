# attacks: TPL101
# promise: wrapped inputs that are only computed with stay what they were
# stays safe: yes
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.autograd import Variable

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for step in range(3):
    inputs = Variable(torch.rand(2, 1, 6, 6))
    targets = Variable(torch.randint(0, 3, (2,)))
    optimizer.zero_grad()
    loss = F.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.4f}")
