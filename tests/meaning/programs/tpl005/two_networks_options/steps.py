import torch.nn.functional as F


def generator_step(generator, discriminator, optimizer, noise, session):
    generator.requires_grad_(session.requires_grad_g)
    optimizer.zero_grad()
    loss = F.softplus(-discriminator(generator(noise))).mean()
    loss.backward()
    optimizer.step()


def discriminator_step(generator, discriminator, optimizer, noise, real, session):
    discriminator.requires_grad_(session.requires_grad_d)
    if not session.requires_grad_d:
        return
    optimizer.zero_grad()
    fake = generator(noise).detach()
    loss = F.softplus(discriminator(fake)).mean() + F.softplus(-discriminator(real)).mean()
    loss.backward()
    optimizer.step()
