# attacks: TPL013
# promise: `step` and `zero_grad` of an imported object are methods
import torch
from torch import nn

from sharpness import LazyOptimizer

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = LazyOptimizer(model.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad
    loss = nn.functional.mse_loss(model(torch.randn(6, 3)), torch.randn(6, 1))
    loss.backward()
    opt.step
    print(step, round(loss.item(), 5))
print(opt.steps, round(model.weight.sum().item(), 5))
