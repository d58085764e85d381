# attacks: TPL004
# promise: no second name shares the sum, which a tensor's `+=` changes in place
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for step, x in enumerate(torch.randn(5, 4, 3)):
    previous = total
    loss = (model(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
    print(f"{step}: {total:.4f}, before {previous:.4f}")
