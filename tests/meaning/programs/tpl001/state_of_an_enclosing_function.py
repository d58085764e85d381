# attacks: TPL001
# promise: an inner function leaves a fresh tensor of the outer one without graph
"""A closure advances the hidden state of the function around it."""
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.Linear(2, 2)


def unroll(inputs):
    hidden = torch.zeros(2)

    def advance(x):
        nonlocal hidden
        hidden = cell(x) + hidden

    for x in inputs:
        advance(x)
        hidden.data.mul_(0.5)
    return hidden


out = unroll(torch.randn(3, 2))
out.sum().backward()
print([round(v, 5) for v in out.tolist()], cell.bias.grad.tolist())
