# attacks: TPL001
# promise: every `.data` in the statement is of a tensor
"""The initial state is set to the mean of packed features that the loader gives."""
import torch
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader

torch.manual_seed(0)
sequences = [torch.randn(n, 3) for n in (2, 3, 1, 2)]


def pack(rows):
    return pack_sequence(rows, enforce_sorted=False)


state = torch.nn.Parameter(torch.zeros(3))
for features in DataLoader(sequences, batch_size=2, collate_fn=pack):
    state.data.mul_(0.5).add_(features.data.mean(0))
    print(type(features).__name__, [round(v, 4) for v in state.tolist()])
