# attacks: TPL001
# promise: an exception carries the loss past the change
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 1)


class Diverged(Exception):
    pass


def forward(x):
    raise Diverged(head(torch.sigmoid(body(x))).sum())


try:
    forward(torch.ones(2, 3))
except Diverged as error:
    head.weight.data.mul_(0.1)
    error.args[0].backward()
print([round(v, 4) for v in body.bias.grad.tolist()])
