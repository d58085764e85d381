# attacks: TPL004
# promise: what is added is a tensor in every round
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sizes = [5, 1, 4, 0, 6]
running = 0.0
for size in sizes:
    x, y = torch.randn(size, 3), torch.zeros(size, dtype=torch.long)
    if size > 1:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    else:
        loss = 0.0
    running += loss
print(f"running loss {running / len(sizes):.4f}")
