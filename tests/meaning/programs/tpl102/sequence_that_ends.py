# attacks: TPL102
# promise: the IndexError ends the iteration over what has `__getitem__`
import torch
import torch.nn.functional as F


class Losses:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, i):
        return self.measure(self.rows[i])

    def measure(self, row):
        loss = F.mse_loss(row, torch.zeros(2))
        return loss.data[0]


print(list(Losses(torch.ones(3, 2))))
