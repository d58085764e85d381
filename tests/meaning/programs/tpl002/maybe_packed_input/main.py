# attacks: TPL002
# promise: a value that is a tensor on one path is one on all
"""The encoder packs its input only where lengths are given."""
import torch
from packing import pack
from torch import nn

torch.manual_seed(0)
rnn = nn.GRU(2, 3, batch_first=True)


def values(lengths=None):
    x = torch.ones(2, 3, 2)
    if lengths is not None:
        x = pack(x, lengths)
    rnn(x)
    return x.data + 1


print(tuple(values().shape), values().sum().item())
print(tuple(values([3, 1]).shape), values([3, 1]).sum().item())
