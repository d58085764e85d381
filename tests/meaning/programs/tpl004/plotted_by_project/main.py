# attacks: TPL004
# promise: what a method called `plot` is given is read as numbers
import torch
import torch.nn as nn
from curves import Curves

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
curves = Curves(width=20)
losses = []
for step in range(6):
    x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
curves.plot(losses)
