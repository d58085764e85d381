# attacks: TPL001
# promise: the critic is clipped behind its step
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Linear(2, 1)
optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.05)
for step in range(3):
    loss = critic(torch.randn(4, 2)).mean() - critic(torch.randn(4, 2) + 1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p in critic.parameters():
        p.data.clamp_(-0.1, 0.1)
    print(round(loss.item(), 4))
