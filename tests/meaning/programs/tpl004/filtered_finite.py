# attacks: TPL004
# promise: a list that goes through `filter` is read as numbers
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(6):
    x = torch.randn(4, 3)
    loss = F.mse_loss(model(x), torch.zeros(4, 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)

finite = list(filter(torch.isfinite, losses))
print(len(finite), f"{sum(finite) / len(finite):.4f}")
