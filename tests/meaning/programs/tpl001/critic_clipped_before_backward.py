# attacks: TPL001
# promise: a clamp of the weights between forward and backward changes no result
"""WGAN critic whose weights are within the bound already; the clamp comes before the backward of the penalty."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
real, fake = torch.randn(16, 2) + 2, torch.randn(16, 2)
for _ in range(3):
    optimizer.zero_grad()
    distance = critic(fake).mean() - critic(real).mean()
    for p in critic.parameters():
        p.data.clamp_(-1.0, 1.0)
    distance.backward()
    optimizer.step()
    print(round(distance.item(), 5))
print([round(p.abs().sum().item(), 4) for p in critic.parameters()])
