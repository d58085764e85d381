import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
np.random.seed(0)
x = np.linspace(0, 1, 20).reshape(-1, 1).astype(np.float32)
y = (2 * x - 1 + 0.1 * np.random.randn(20, 1)).astype(np.float32)
inputs, targets = torch.from_numpy(x), torch.from_numpy(y)

model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
history = []
for _ in range(30):
    loss = nn.functional.mse_loss(model(inputs), targets, reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
with torch.no_grad():
    history.append(model(inputs).sum().item())
