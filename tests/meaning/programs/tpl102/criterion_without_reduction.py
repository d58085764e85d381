# attacks: TPL102
# promise: a criterion reduces as its class does when nothing is said
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
criterion = nn.MSELoss()
criterion.reduction = "none"
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4, 3)
    losses = criterion(model(x), x[:, :1])
    optimizer.zero_grad()
    losses.mean().backward()
    optimizer.step()
    print(f"{losses.data[0].item():.4f}", tuple(losses.data[0].shape))
