# attacks: TPL004
# promise: two sums are printed
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
criterion = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=0.01)
opt_d = torch.optim.Adam(critic.parameters(), lr=0.01)
d_total, g_total = 0.0, 0.0
for step in range(3):
    real, fake = torch.randn(4, 3), generator(torch.randn(4, 2))
    d_loss = criterion(critic(real), torch.ones(4, 1)) + criterion(critic(fake.detach()), torch.zeros(4, 1))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = criterion(critic(fake), torch.ones(4, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    d_total += d_loss
    g_total += g_loss
print("D %.4f G %.4f" % (d_total / 3, g_total / 3))
