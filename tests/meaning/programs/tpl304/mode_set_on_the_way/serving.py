import torch


def prepare(model):
    """For a server: no graph from here on."""
    model.requires_grad_(True)
    torch.set_grad_enabled(False)
