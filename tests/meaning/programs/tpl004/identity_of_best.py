# attacks: TPL004
# promise: nobody asks which object the list keeps
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses, best = [], None
for step in range(6):
    x = torch.randn(4, 3)
    loss = (model(x) - x[:, :1]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
    if best is None or loss < best:
        best = loss
print("best at", [position for position, value in enumerate(losses) if value is best])
