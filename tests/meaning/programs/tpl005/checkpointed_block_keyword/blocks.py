import torch

_gate = torch.linspace(0.1, 0.9, 3)


def mixer(x, require_grad=True):
    gated = torch.tanh(x) * _gate
    return gated if require_grad else gated.detach()
