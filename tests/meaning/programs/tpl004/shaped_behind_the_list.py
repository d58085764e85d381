# attacks: TPL004
# promise: the loss is given a dimension in place after it was kept
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
curve = []
for _ in range(3):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    curve.append(loss)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.unsqueeze_(0)
print([f"{float(one):.4f}" for one in curve], [one.dim() for one in curve])
