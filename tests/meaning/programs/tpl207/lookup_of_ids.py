# attacks: TPL207
# promise: an operator that a tensor is an operand of gives a tensor; this class defines it, and gives numbers
import torch


class Vocabulary:
    """`vocabulary @ ids` looks tokens up."""

    def __init__(self, sizes):
        self.sizes = sizes

    def __matmul__(self, ids):
        return [self.sizes[i] for i in ids.tolist()]


def widths(vocabulary):
    ids = torch.tensor([2, 0])
    return torch.tensor(vocabulary @ ids)


print(widths(Vocabulary([5, 6, 7])).tolist())
