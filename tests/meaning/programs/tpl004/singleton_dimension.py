# attacks: TPL004
# promise: what is back-propagated has no dimensions
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
seen = []
for step in range(5):
    x = torch.randn(3)
    error = model(x) - x.sum()
    loss = error * error
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen.append(loss)

print(f"first {seen[0][0]:.4f}, last {seen[-1][0]:.4f}")
