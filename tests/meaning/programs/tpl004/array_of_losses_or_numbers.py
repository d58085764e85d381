# attacks: TPL004
# promise: an array of tensors with a graph raises, and numbers are taken instead
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
curve = []
for _ in range(3):
    loss = (model(torch.randn(4, 2)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve.append(loss)
try:
    values = np.array(curve)
except RuntimeError:
    values = np.array([float(each) for each in curve])
print(values.dtype, len(values))
