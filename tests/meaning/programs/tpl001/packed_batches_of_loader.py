# attacks: TPL001
# promise: what a data loader gives is a tensor
"""Sequences come packed out of the loader; their values are scaled in place."""
import torch
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
sequences = [torch.randn(n, 2) for n in (3, 1, 2, 4)]


def pack(rows):
    return pack_sequence(rows, enforce_sorted=False)


rnn = torch.nn.GRU(2, 3)
for steps in DataLoader(sequences, 2, False, None, None, 0, pack):
    steps.data.mul_(0.5)
    _, hidden = rnn(steps)
    print(type(steps).__name__, [round(v, 4) for v in hidden.flatten().tolist()])
