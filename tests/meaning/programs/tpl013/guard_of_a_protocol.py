# attacks: TPL013
# promise: a method that is a statement was meant to be called
import contextlib

import torch
from torch import nn

torch.manual_seed(0)


def kind_of(candidate):
    """What answers to what it is asked for; the last answer counts."""
    kind = "nothing"
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: None)
        try:
            candidate.zero_grad
            kind = "has gradients"
            candidate.step
            kind = "optimizer"
        except AttributeError:
            pass
    return kind


model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model(torch.ones(3, 2)).sum().backward()
print(kind_of(model), kind_of(optimizer), kind_of(3), model.weight.grad is not None)
optimizer.step()
print([round(v, 5) for v in model.weight.detach().flatten().tolist()])
