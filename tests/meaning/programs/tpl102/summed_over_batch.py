# attacks: TPL102
# promise: what `backward` is called on has no dimensions
import torch
import torch.nn as nn

torch.manual_seed(0)
value = nn.Linear(3, 1)
optimizer = torch.optim.SGD(value.parameters(), lr=0.02)
running = torch.zeros(())
for step in range(4):
    states = torch.randn(6, 3)
    error = value(states) - states.sum(dim=1, keepdim=True)
    loss = error.pow(2).sum(dim=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first = loss.detach()[0]
    running = running + first.sqrt()
    print(f"{first.item():.4f}")
print(f"{running.item():.4f}")
