# attacks: TPL401
# promise: positions as floats are the same from the range itself
# stays safe: yes
import math

import torch


def encoding(length, width):
    position = torch.arange(length).unsqueeze(1).float()
    rate = torch.exp(torch.arange(0, width, 2).float() * -(math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


print([[round(v, 4) for v in row] for row in encoding(3, 4).tolist()])
