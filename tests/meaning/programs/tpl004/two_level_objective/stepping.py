def descend(objective, optimizer, module, decay=1e-2):
    """One step on the objective, with a little weight decay."""
    optimizer.zero_grad()
    decayed = sum(parameter.pow(2).sum() for parameter in module.parameters())
    (objective + decay * decayed).backward()
    optimizer.step()
