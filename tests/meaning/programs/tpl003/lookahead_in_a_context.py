# attacks: TPL003, TPL002
# promise: a value put aside keeps the old memory while the parameter gets another
"""A context manager evaluates with perturbed weights and puts the old ones back, whatever happens."""
from contextlib import contextmanager

import torch
from torch import nn

torch.manual_seed(0)


@contextmanager
def perturbed(model, radius):
    old = [p.data for p in model.parameters()]
    try:
        for p in model.parameters():
            p.data = p.data + radius * p.grad
        yield model
    finally:
        for p, value in zip(model.parameters(), old):
            p.data = value


model = nn.Linear(2, 1)
x = torch.randn(4, 2)
model(x).pow(2).mean().backward()
with perturbed(model, 0.1) as there:
    model.zero_grad()
    there(x).pow(2).mean().backward()
print([round(v, 5) for p in model.parameters() for v in (*p.flatten().tolist(), *p.grad.flatten().tolist())])
