# attacks: TPL010
# promise: retaining a gradient changes nothing else
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
plotted = []
for step in range(3):
    out = net(torch.randn(4, 2))
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    plotted.append((step, out.grad))
    print(step, round(loss.item(), 5))
print(len(plotted), round(net.weight.sum().item(), 5))
