# attacks: TPL001
# promise: gradients of a scaled loss are plain tensors
# stays safe: yes
"""Loss scaling by hand."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
scale = 1024.0
for _ in range(3):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    (loss * scale).backward()
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad.data.div_(scale)
    optimizer.step()
    print(round(loss.item(), 6))
print([round(v, 5) for v in net.weight.flatten().tolist()])
