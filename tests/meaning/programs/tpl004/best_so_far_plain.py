# attacks: TPL004
# promise: plain figures of a list stay what they were
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
criterion = nn.L1Loss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(6):
    x = torch.randn(4, 3)
    loss = criterion(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
print(f"last {float(losses[-1]):.4f}, mean {sum(losses) / len(losses):.4f}, best {min(losses):.4f}")
