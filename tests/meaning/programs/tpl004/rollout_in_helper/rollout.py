import torch


def normalised(values):
    """Values with mean 0 and deviation 1."""
    if not isinstance(values, torch.Tensor):
        values = torch.stack(values)
    return (values - values.mean()) / (values.std() + 1e-8)
