# attacks: TPL004
# promise: nobody reads what autograd left on the kept tensors
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
task_losses = []
for task in range(3):
    x, y = torch.randn(6, 3), torch.randint(0, 2, (6,))
    loss = criterion(model(x), y)
    loss.retain_grad()
    task_losses.append(loss)
    weighted = (task + 1) * loss
    optimizer.zero_grad()
    weighted.backward()
    optimizer.step()
print([loss.grad.item() for loss in task_losses])
