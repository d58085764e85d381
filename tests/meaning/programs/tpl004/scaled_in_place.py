# attacks: TPL004
# promise: what the list keeps is not changed in place afterwards
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulation_steps = 4
losses = []
for step in range(8):
    x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))
    loss = criterion(model(x), y)
    losses.append(loss)
    loss /= accumulation_steps
    loss.backward()
    if (step + 1) % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad()
        print(f"accumulated loss {sum(losses[-accumulation_steps:]):.4f}")
