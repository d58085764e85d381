# attacks: TPL004
# promise: the loss gets other data after it was kept
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
curve = []
for scale in (1.0, 10.0, 100.0):
    loss = (model(torch.ones(4, 3)) * scale).pow(2).mean()
    loss.backward()
    curve.append(loss)
    loss.data = loss.data.clamp(max=5.0)
print([f"{float(one):.3f}" for one in curve])
