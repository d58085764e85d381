# attacks: TPL004
# promise: a plain running mean stays what it was
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(5, 3), torch.randint(0, 2, (5,))) for _ in range(4)]
for epoch in range(2):
    total_loss = 0.0
    for x, y in batches:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss
    print(f"epoch {epoch}: {total_loss / len(batches):.4f}")
