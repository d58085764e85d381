# attacks: TPL001
# promise: a function leaves a fresh tensor of the module without graph
"""A script keeps its recurrent state in a global that a function replaces."""
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.Linear(2, 2)
state = torch.zeros(2)


def advance(x):
    global state
    state = cell(x) + state


for x in torch.randn(3, 2):
    advance(x)
    state.data.mul_(0.5)
state.sum().backward()
print([round(v, 5) for v in state.tolist()], cell.bias.grad.tolist())
