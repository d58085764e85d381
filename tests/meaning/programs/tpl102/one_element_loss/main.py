# attacks: TPL102
# promise: the first element of a loss is read as a number
import torch
from margin import margin_loss
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
history = []
for step in range(4):
    anchor, positive = torch.randn(2, 1, 4)
    loss = margin_loss(model(anchor), model(positive))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.data[0])
trend = torch.stack(history)
print([f"{value:.4f}" for value in trend.tolist()], f"{trend.std().item():.4f}")
