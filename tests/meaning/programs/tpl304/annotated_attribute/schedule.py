def react(model, validator):
    """Hypergradient descent: the validation loss is descended by the weights."""
    model.zero_grad()
    validator.last.backward()
    model.weight.data -= 0.1 * model.weight.grad
    return round(validator.last.item(), 4)
