# attacks: TPL002
# promise: fake images without graph do not train the generator
# stays safe: yes
"""One GAN step: the discriminator sees the fake images without their graph."""
import torch
from torch import nn

torch.manual_seed(0)
generator, discriminator = nn.Linear(2, 3), nn.Linear(3, 1)
fake = generator(torch.randn(6, 2))
d_loss = discriminator(fake.data).mean() - discriminator(torch.randn(6, 3)).mean()
d_loss.backward()
print(generator.weight.grad, round(discriminator.weight.grad.sum().item(), 5))
g_loss = -discriminator(fake).mean()
g_loss.backward()
print(round(generator.weight.grad.sum().item(), 5))
