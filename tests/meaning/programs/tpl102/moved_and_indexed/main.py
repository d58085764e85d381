# attacks: TPL102
# promise: the item of a moved loss is read as a number
import torch
from torch import nn
from weighting import uncertainty

torch.manual_seed(0)
trunk = nn.Linear(3, 2)
log_vars = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.SGD([*trunk.parameters(), log_vars], lr=0.1)
best = torch.full((1,), float("inf"))
for step in range(4):
    x = torch.randn(5, 3)
    loss = uncertainty((trunk(x) - x[:, :2]).pow(2).mean(dim=0), log_vars)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    best = torch.minimum(best, loss.detach().cpu()[0])
print(f"{best.item():.4f}", tuple(best.shape))
