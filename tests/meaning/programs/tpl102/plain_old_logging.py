# attacks: TPL102
# promise: the loss of torch has no dimensions
# shows: the index raises
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model, criterion = nn.Linear(3, 2), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
running = 0.0
for step in range(3):
    loss = criterion(model(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss.data[0]
print(round(running, 4))
