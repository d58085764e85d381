# attacks: TPL101
# promise: `type(h) == Variable` was meant to be true
import torch
from torch import nn
from torch.autograd import Variable


def flatten(state):
    """The rows of a nest of states, as lists of numbers."""
    if type(state) == Variable:
        return [state.data.tolist()]
    if isinstance(state, torch.Tensor) and state.dim() < 2:
        return [state.tolist()]
    return [row for part in state for row in flatten(part)]


torch.manual_seed(0)
_, (h, c) = nn.LSTM(2, 3)(torch.randn(5, 1, 2))
for row in flatten((h, c)):
    print([round(value, 4) for value in row])
