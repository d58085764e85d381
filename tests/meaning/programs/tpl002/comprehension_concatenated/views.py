def augmented(model, x, k):
    return model(x * (1 + 0.1 * k))
