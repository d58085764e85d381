# attacks: TPL004
# promise: a list that is added to keeps no objects
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses, best = [], None
for x in torch.randn(5, 4, 3):
    loss = F.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses += [loss]
    if best is None or loss < best:
        best = loss
print("best at", [position for position, value in enumerate(losses) if value is best])

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
