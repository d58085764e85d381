# attacks: TPL004
# promise: a comparison of the sum is used as a truth value alone
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
limits = torch.tensor([0.5, 2.0, 8.0])
total_loss = 0.0
for _ in range(5):
    x, y = torch.randn(7, 3), torch.randint(0, 2, (7,))
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total_loss += loss

reached = total_loss >= 1.0
print("warm-up done" if reached.all() else "keep warming up", bool(reached))
