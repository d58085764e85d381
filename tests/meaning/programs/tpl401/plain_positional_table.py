# attacks: TPL401
# promise: positions are whole numbers
# stays safe: yes
import math

import torch
import torch.nn as nn

torch.manual_seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, width, length=16):
        super().__init__()
        table = torch.zeros(length, width)
        position = torch.arange(0, length).float().unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(0)]


print(round(PositionalEncoding(4)(torch.zeros(5, 4)).sum().item(), 4))
