# attacks: TPL004
# promise: a list that `zip` makes a dict of is read as numbers
import torch
import torch.nn as nn

torch.manual_seed(0)
trunk = nn.Linear(3, 4)
heads = nn.ModuleDict({name: nn.Linear(4, 1) for name in ("depth", "normal", "edge")})
optimizer = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.1)
criterion = nn.MSELoss()
x = torch.randn(10, 3)

task_losses = []
for name, head in heads.items():
    loss = criterion(head(trunk(x)), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    task_losses.append(loss)

by_task = dict(zip(heads, task_losses))
for name, value in by_task.items():
    print(name, f"{value.sqrt().item():.4f}")
