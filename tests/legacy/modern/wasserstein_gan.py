import math

import torch
from torch import nn, optim

torch.manual_seed(3)
BATCH, NOISE = 16, 4
generator = nn.Sequential(nn.Linear(NOISE, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
for network in (generator, critic):
    for layer in (network[0], network[2]):
        nn.init.normal_(layer.weight, 0.0, 0.2)
        nn.init.zeros_(layer.bias)
fixed_noise = torch.randn(BATCH, NOISE)
critic_optimizer = optim.RMSprop(critic.parameters(), lr=0.005)
generator_optimizer = optim.RMSprop(generator.parameters(), lr=0.005)
history, graphs = [], []


def ring(step):
    angles = torch.tensor([2 * math.pi * (step * BATCH + i) / 37 for i in range(BATCH)])
    return torch.stack([angles.cos(), angles.sin()], 1)


for _ in range(6):
    for step in range(3):
        with torch.no_grad():
            for parameter in critic.parameters():
                parameter.clamp_(-0.1, 0.1)
            fake = generator(torch.randn(BATCH, NOISE))
        graphs.append(fake.requires_grad)
        critic.zero_grad()
        critic_loss = critic(ring(step)).mean() - critic(fake).mean()
        critic_loss.backward()
        critic_optimizer.step()
    generator.zero_grad()
    generator_loss = critic(generator(torch.randn(BATCH, NOISE))).mean()
    generator_loss.backward()
    generator_optimizer.step()
    history += [critic_loss.item(), generator_loss.item()]

with torch.no_grad():
    fake = generator(fixed_noise)
graphs.append(fake.requires_grad)
history.append(fake.sum().item())
