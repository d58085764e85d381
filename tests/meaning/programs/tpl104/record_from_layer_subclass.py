# attacks: TPL104
# promise: a layer of the file is derived from a layer of torch and gives a record
from typing import NamedTuple

import torch
import torch.nn as nn

torch.manual_seed(0)


class Scored(NamedTuple):
    data: torch.Tensor
    mask: torch.Tensor


class Head(nn.Linear):
    def forward(self, x):
        out = super().forward(x)
        return Scored(out.detach(), out > 0)


head = Head(3, 2)
out = head(torch.ones(2, 3))
print(out.data.cpu().numpy().shape, out.mask.tolist())
for name, layer in nn.Sequential(nn.Linear(3, 3), Head(3, 1)).named_children():
    result = layer(torch.ones(1, 3))
    print(name, len(result.data.tolist()))
