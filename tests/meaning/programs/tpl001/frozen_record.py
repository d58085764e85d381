# attacks: TPL001
# promise: an attribute that is read can be assigned to
"""Latent variables are kept in a named tuple."""
from typing import NamedTuple

import torch

torch.manual_seed(0)


class Latent(NamedTuple):
    mean: torch.nn.Parameter
    scale: torch.nn.Parameter


latent = Latent(torch.nn.Parameter(torch.zeros(3)), torch.nn.Parameter(torch.ones(3)))
loss = (latent.mean + latent.scale * torch.randn(3)).pow(2).sum()
loss.backward()
for item in [latent]:
    item.mean.data -= 0.1 * item.mean.grad
    item.scale.data *= 0.9
print([round(v, 5) for v in latent.mean.tolist()], [round(v, 5) for v in latent.scale.tolist()])
