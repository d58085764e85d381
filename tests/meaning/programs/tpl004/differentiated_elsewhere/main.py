# attacks: TPL004
# promise: the graph of a sum is freed because one of its losses is back-propagated
import torch
from pending import pending
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    objective = pending(model, torch.randn(3, 4, 3))
    objective.backward()
    optimizer.step()
print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
