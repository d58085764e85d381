# attacks: TPL304
# promise: each call of the function takes one frame of the stack
import sys

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
sys.setrecursionlimit(len(__import__("inspect").stack()) + 130)


def evaluate(batches, depth=0):
    model.eval()
    if depth == 40:
        return 0.0
    total = 0.0
    for x in batches:
        total += model(x).sum().item()
    return total / 10 + evaluate(batches, depth + 1)


try:
    print(round(evaluate(torch.ones(2, 1, 2)), 4))
except RecursionError:
    print("too deep")
