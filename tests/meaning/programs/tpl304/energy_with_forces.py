# attacks: TPL304
# promise: the model differentiates by means of a decorator
import functools

import torch
import torch.nn as nn

torch.manual_seed(0)


def with_forces(forward):
    @functools.wraps(forward)
    def wrapped(self, x):
        x = x.clone().requires_grad_(True)
        energy = forward(self, x)
        return energy, -torch.autograd.grad(energy.sum(), x)[0]

    return wrapped


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    @with_forces
    def forward(self, x):
        return self.fc(x).pow(2)


def evaluate(model, batches):
    model.eval()
    total = 0.0
    for x in batches:
        energy, forces = model(x)
        total += energy.sum().item() + forces.abs().sum().item()
    return total


print(round(evaluate(Potential(), torch.ones(2, 1, 3)), 4))
