# attacks: TPL004
# promise: the best mean so far is a value
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, history = float("inf"), []
for epoch in range(3):
    total, count = 0.0, 0
    for x in torch.randn(3, 4, 3):
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        count += 1
    mean = total / count
    history.append(mean)
    if mean < best:
        best = mean
        print(f"epoch {epoch}: {best:.4f}")
print(" ".join(f"{value:.4f}" for value in history))

print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
