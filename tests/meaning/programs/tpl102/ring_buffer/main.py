# attacks: TPL102
# promise: what a thing called a loss has in its `data` is a tensor
import torch
from rings import Ring
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
recent_loss = Ring(3)
for step in range(5):
    x = torch.randn(4, 2)
    error = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
    recent_loss.push(error.item())
print(f"oldest {recent_loss.data[0]:.4f}, newest {recent_loss.data[-1]:.4f}")
