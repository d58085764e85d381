import torch


def sweep_scales(model, x, scales):
    """The loss at each scale of the outputs."""
    with torch.no_grad():
        return torch.stack([(model(x) * scale - 1).pow(2).mean() for scale in scales])
