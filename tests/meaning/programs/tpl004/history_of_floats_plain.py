# attacks: TPL004
# promise: a list whose items are made floats stays what it was
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
losses = []
for step in range(5):
    x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss)
values = [float(loss) for loss in losses]
print(f"{sum(values) / len(values):.4f} {max(values):.4f}")
