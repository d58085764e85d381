# attacks: TPL004
# promise: what a dict keeps by step is read as numbers
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = {}
for step, x in enumerate(torch.randn(4, 5, 3)):
    loss = criterion(model(x), (x.sum(dim=1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history[step] = loss
print({step: round(value.item(), 3) for step, value in history.items()})
print(f"{history.setdefault(0, None).exp().item():.4f}")
