# attacks: TPL009
# promise: `last` in a name is a time, and never a place
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 6), nn.Linear(6, 2)
first = body.weight.detach()
last = head.weight.detach()
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.3)
x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(head(torch.relu(body(x))), y)
    loss.backward()
    optimizer.step()
    print(epoch, round(loss.item(), 5), "norms", round(first.norm().item(), 5), round(last.norm().item(), 5))
