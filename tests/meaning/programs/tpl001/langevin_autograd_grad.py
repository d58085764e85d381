# attacks: TPL001
# promise: nothing in the statement runs autograd itself
"""Samples from an energy model by unadjusted Langevin dynamics."""
import torch

torch.manual_seed(0)


def energy(x):
    return ((x**2 - 1) ** 2).sum() + 0.1 * x.sum()


step = 0.01
x = torch.randn(8, 2, requires_grad=True)
for _ in range(20):
    x.data -= step * torch.autograd.grad(energy(x), x)[0]
    x.data += (2 * step) ** 0.5 * torch.randn(8, 2)

print([round(v, 4) for v in x.flatten().tolist()])
print("energy", round(energy(x).item(), 4))
