# attacks: TPL001
# promise: parameters after their backward can be changed under no_grad
# stays safe: yes
"""Gradient descent by hand, as in the first lesson of a course."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(5):
    loss = nn.functional.mse_loss(model(x), y)
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data.sub_(0.1 * p.grad)
    print(round(loss.item(), 5))
print([round(p.sum().item(), 4) for p in model.parameters()])
