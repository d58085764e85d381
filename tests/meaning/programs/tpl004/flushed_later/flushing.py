def flush(pending, optimizer, model, ridge=1e-3):
    """Takes one step on all that is pending."""
    optimizer.zero_grad()
    norm = sum(parameter.pow(2).sum() for parameter in model.parameters())
    (sum(pending) / len(pending) + ridge * norm).backward()
    optimizer.step()
    pending.clear()
