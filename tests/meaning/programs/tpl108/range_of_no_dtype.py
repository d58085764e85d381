# attacks: TPL108
# promise: the dtype is None by default, for which the successor gives integers
import torch

torch.manual_seed(0)


class Grid:
    def __init__(self, kind=None):
        self.x = torch.range(0, 3, dtype=kind)


kind = None
print(Grid().x, Grid(torch.long).x)
print(torch.range(1, 3, dtype=kind).dtype)
