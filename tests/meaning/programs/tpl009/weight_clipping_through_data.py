# attacks: TPL009
# promise: nothing is written to the weights through the name of the snapshot
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Linear(3, 1)
orig = critic.weight.detach()
optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.05)
for step in range(5):
    real, fake = torch.randn(8, 3) + 1, torch.randn(8, 3)
    loss = critic(fake).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    orig.clamp_(-0.1, 0.1)
    print(step, round(loss.item(), 5), round(orig.abs().max().item(), 5))
print([round(v, 5) for v in critic.weight.detach().flatten().tolist()])
