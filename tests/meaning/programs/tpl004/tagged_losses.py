# attacks: TPL004
# promise: the losses carry attributes of the program's own
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
history = []
for step in range(4):
    loss = model(torch.randn(5, 3)).pow(2).mean()
    loss.step = step
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)
best = min(history, key=float)
print(best.step, f"{float(best):.4f}")
