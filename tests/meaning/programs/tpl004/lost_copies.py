# attacks: TPL004
# promise: a list that is extended with another is read as numbers
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
run = []
for epoch in range(2):
    losses = []
    for x in torch.randn(3, 4, 2):
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    run += losses
for step, value in enumerate(run):
    if value.isfinite():
        print(step, f"{value.item():.4f}")
