# attacks: TPL004
# promise: a comprehension over the list hands its items to nothing that wants tensors
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
losses = []
for step in range(8):
    x = torch.randn(16, 4)
    y = (x.sum(dim=1, keepdim=True) > 0).float()
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)

small = [value for value in losses if value < 0.6]
print(len(small), f"{torch.stack(small).std():.4f}")
