# attacks: TPL004
# promise: a function that the file only prints is differentiated by nobody
import torch
import torch.nn as nn
from torch.func import grad

torch.manual_seed(0)
readout = nn.Linear(2, 1)
w = torch.randn(2, requires_grad=True)
data = torch.randn(4, 3, 2)


def regret(weights):
    total = 0
    for x in data:
        error = ((x * weights).sum(dim=1) - 1).pow(2).mean()
        total += error
    return total


readout(w).pow(2).sum().backward()
print(f"regret {regret(w):.4f}, slope of the readout {w.grad.sum().item():.4f}")
print("slope", [f"{value:.4f}" for value in grad(regret)(w.detach()).tolist()])
