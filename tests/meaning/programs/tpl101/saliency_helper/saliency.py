def saliency(model, x, label):
    """The gradient of a score with respect to the input."""
    x.requires_grad_()
    model(x)[0, label].backward()
    return x.grad
