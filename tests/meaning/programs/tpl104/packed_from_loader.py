# attacks: TPL104
# promise: a data loader gives tensors, whatever collates
"""Lengths and values of packed batches are exported."""
import torch
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader


class Packing(DataLoader):
    def __init__(self, rows, size):
        super().__init__(rows, size, False, None, None, 0, self.pack)

    @staticmethod
    def pack(rows):
        return pack_sequence(rows, enforce_sorted=False)


torch.manual_seed(0)
for steps in Packing([torch.randn(n, 2) for n in (2, 3, 1)], 2):
    print(steps.data.numpy().round(4).tolist(), type(steps).__name__)
