# attacks: TPL004
# promise: a dict of sums that is printed key by key stays what it was
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
g_opt = torch.optim.SGD(generator.parameters(), lr=0.05)
d_opt = torch.optim.SGD(critic.parameters(), lr=0.05)
bce = nn.BCEWithLogitsLoss()
sums = {"g": 0.0, "d": 0.0}
for step in range(4):
    real, noise = torch.randn(4, 2) + 2, torch.randn(4, 2)
    d_opt.zero_grad()
    d_loss = bce(critic(real), torch.ones(4, 1)) + bce(critic(generator(noise).detach()), torch.zeros(4, 1))
    d_loss.backward()
    d_opt.step()
    g_opt.zero_grad()
    g_loss = bce(critic(generator(noise)), torch.ones(4, 1))
    g_loss.backward()
    g_opt.step()
    sums["g"] += g_loss
    sums["d"] += d_loss
print(f"G {sums['g'] / 4:.4f} D {sums['d'] / 4:.4f}")
