# attacks: TPL005
# promise: an attribute two letters longer than requires_grad is that flag, misspelt
import torch
from torch import nn

from options import TrainOptions
from steps import discriminator_step, generator_step

torch.manual_seed(0)
session = TrainOptions()
session.requires_grad_g = True
session.requires_grad_d = False

generator = nn.Linear(2, 4)
discriminator = nn.Linear(4, 1)
gen_optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
disc_optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.1)

for step in range(3):
    noise = torch.randn(8, 2)
    real = torch.randn(8, 4) + 1
    generator_step(generator, discriminator, gen_optimizer, noise, session)
    discriminator_step(generator, discriminator, disc_optimizer, noise, real, session)

print("generator", [round(v, 4) for v in generator.weight.detach().flatten().tolist()])
print("discriminator", [round(v, 4) for v in discriminator.weight.detach().flatten().tolist()])
print(sorted(vars(session)))
