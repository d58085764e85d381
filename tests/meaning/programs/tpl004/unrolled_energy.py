# attacks: TPL004
# promise: a sum whose visible callers only print it needs no graph
import torch
import torch.nn as nn
from torch.autograd.functional import jacobian

torch.manual_seed(0)
model = nn.Linear(3, 1)
point = torch.randn(3, requires_grad=True)


def energy(x):
    total = 0.0
    for k in range(1, 4):
        distance = (torch.sin(k * x) ** 2).mean()
        total = total + distance
    return total


fit = model(point).pow(2).mean()
fit.backward()
print(f"energy {energy(point):.4f}")
print("slope", [f"{value:.3f}" for value in jacobian(energy, torch.ones(3)).tolist()])
print("weights", [f"{value:.3f}" for value in model.weight.grad.flatten().tolist()])
