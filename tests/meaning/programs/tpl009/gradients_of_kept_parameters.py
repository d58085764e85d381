# attacks: TPL009
# promise: of a list of parameters nobody needs more than the values
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
orig = list(model.parameters())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    norm = torch.nn.utils.clip_grad_norm_(orig, 0.5)
    optimizer.step()
    penalty = sum((p - 1).pow(2).sum() for p in orig)
    print(step, round(norm.item(), 5), penalty.requires_grad, round(penalty.item(), 5))
