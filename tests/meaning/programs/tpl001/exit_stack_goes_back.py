# attacks: TPL001
# promise: the backward pass is made when the block is left
import contextlib

import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
with contextlib.ExitStack() as stack:
    stack.callback(head(torch.tanh(body(torch.ones(2, 3)))).sum().backward)
    head.weight.data.mul_(0.5)
print([round(v, 4) for v in body.bias.grad.tolist()])
