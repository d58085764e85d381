# attacks: TPL304
# promise: the function looks at the frame that called it, and a decorator puts one in between
import sys

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
data = [(torch.randn(3, 4), torch.tensor([0, 1, 1])) for _ in range(3)]


def evaluate():
    model.eval()
    correct = 0
    for x, y in data:
        correct += (model(x).argmax(1) == y).sum().item()
    print("called by", sys._getframe(1).f_code.co_name)
    return correct


def after_epoch():
    return evaluate()


print(after_epoch())
