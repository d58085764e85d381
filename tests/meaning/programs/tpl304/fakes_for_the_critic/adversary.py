def generator_step(optimizer, critic, fake):
    loss = -critic(fake).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
