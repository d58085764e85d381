# attacks: TPL102
# promise: what is called a loss has one element
import torch
from focal import focal
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))
    loss = focal(model(x), y)
    optimizer.zero_grad()
    loss.mean().backward()
    optimizer.step()
    print(f"first sample {loss.data[0]:.4f}, batch {loss.data.mean():.4f}")
