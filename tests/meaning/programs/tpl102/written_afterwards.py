# attacks: TPL102
# promise: the item is a number of its own, not a view that is written to
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
shown = []
for x in torch.randn(3, 3):
    loss = (model(x) - 1).pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown.append(loss.data[0])
    loss.data.div_(2)
print([f"{float(value):.4f}" for value in shown])
