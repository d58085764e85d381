import torch
import torch.nn as nn


class Rotated(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, size))
        turn = torch.linalg.qr(torch.randn(size, size))[0]
        self.weight.data.copy_(torch.mm(self.weight.data, turn))

    def forward(self, x):
        return torch.mm(x, self.weight)
