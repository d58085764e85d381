def tune(model, gap):
    (gap * gap).sum().backward()
    return [None if p.grad is None else round(p.grad.sum().item(), 4) for p in model.parameters()]
