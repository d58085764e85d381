# attacks: TPL004
# promise: a value that may be a plain number has `.item()`
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
penalties, losses = 0, 0
for epoch in range(4):
    weight_decay = 0.1 if epoch % 2 else 0.0
    x = torch.randn(8, 4)
    penalty = weight_decay * model.weight.pow(2).sum() if weight_decay else 0.0
    loss = (model(x) - x[:, :1]).abs().mean() + penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    penalties += penalty
    losses += loss
print(f"{losses / 4:.4f} of which penalties {penalties / 4:.4f}")
