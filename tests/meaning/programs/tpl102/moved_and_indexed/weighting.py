def uncertainty(losses, log_vars):
    """The sum of losses, each weighted by its uncertainty; of shape (1,)."""
    return ((-log_vars).exp() * losses + log_vars).sum(dim=0, keepdim=True)
