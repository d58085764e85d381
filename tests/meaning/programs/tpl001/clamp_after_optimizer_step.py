# attacks: TPL001
# promise: after the step of an optimizer no backward follows that saved the weights
# stays safe: yes
"""WGAN weight clipping, after the step."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-2)
for _ in range(4):
    real, fake = torch.randn(16, 2) + 2, torch.randn(16, 2)
    optimizer.zero_grad()
    distance = critic(fake).mean() - critic(real).mean()
    distance.backward()
    optimizer.step()
    for p in critic.parameters():
        p.data.clamp_(-0.1, 0.1)
    print(round(distance.item(), 5))
print([round(p.abs().max().item(), 4) for p in critic.parameters()])
