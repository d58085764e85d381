# attacks: TPL001
# promise: the weights are clipped while another loss still waits for its backward pass
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
generator = nn.Linear(3, 2)
opt_c = optim.RMSprop(critic.parameters(), lr=0.01)
opt_g = optim.RMSprop(generator.parameters(), lr=0.01)
for step in range(4):
    fake = generator(torch.randn(6, 3))
    loss_c = critic(fake.detach()).mean() - critic(torch.randn(6, 2)).mean()
    loss_g = -critic(fake).mean()
    opt_c.zero_grad()
    loss_c.backward()
    for p in critic.parameters():
        p.data.clamp_(-0.05, 0.05)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
print([round(v, 4) for v in generator.weight.flatten().tolist()])
