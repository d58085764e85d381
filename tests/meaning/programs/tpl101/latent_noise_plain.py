# attacks: TPL101
# promise: wrapped noise stays noise
# stays safe: yes
import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
generator, critic = nn.Linear(2, 3), nn.Linear(3, 1)
g_opt = torch.optim.Adam(generator.parameters(), lr=0.01)
for _ in range(3):
    z = Variable(torch.randn(4, 2))
    fake = generator(z)
    g_loss = nn.functional.binary_cross_entropy_with_logits(critic(fake), Variable(torch.ones(4, 1)))
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    print(f"{g_loss.item():.4f}")
