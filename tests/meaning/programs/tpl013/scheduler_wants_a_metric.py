# attacks: TPL013
# promise: the scheduler cannot be called without a metric, or not as often
import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
plateau = ReduceLROnPlateau(optimizer, patience=1)
cycle = OneCycleLR(optimizer, max_lr=0.2, total_steps=3)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    optimizer.step()
    plateau.step
    cycle.step
print(round(optimizer.param_groups[0]["lr"], 4), plateau.num_bad_epochs)
