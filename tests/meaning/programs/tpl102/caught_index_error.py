# attacks: TPL102
# promise: the index raises, and the handler counts it
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total, skipped = 0.0, 0
for step in range(4):
    loss = criterion(model(torch.randn(5, 3)), torch.randint(0, 2, (5,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    try:
        total += loss.data[0]
    except IndexError:
        skipped += 1
print(f"{total:.4f} in {4 - skipped} steps")
