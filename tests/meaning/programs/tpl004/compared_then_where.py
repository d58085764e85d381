# attacks: TPL004
# promise: the result of a comparison is read as a bool
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for step in range(6):
    x = torch.randn(5, 2)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss

flags = []
for threshold in (0.1, 1.0, 10.0):
    flags.append((total > threshold).long().item())
print("above:", flags)
