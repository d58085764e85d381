# attacks: TPL004
# promise: an imported function that is handed the list does not back-propagate it
import torch
import torch.nn as nn
from flushing import flush

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
pending = []
for step in range(6):
    x = torch.randn(4, 3)
    loss = criterion(model(x), x.mean(dim=1, keepdim=True))
    if step < 2:  # the first steps are taken one by one
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    else:
        pending.append(loss)
        if len(pending) == 2:
            flush(pending, optimizer, model)
print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
