import torch


def encode(net, x):
    """The code of a batch, on the unit sphere."""
    code = torch.tanh(net(x))
    return code / code.norm(dim=1, keepdim=True)
