# attacks: TPL001
# promise: functions that are handed to others compute losses of the weight
import functools
import itertools
import operator
import random

import torch

w = torch.full((3,), 2.0, requires_grad=True)


def grown(total, i):
    return total + (w * w * i).sum()


total = functools.reduce(grown, [1, 2, 3])
square = operator.mul(w, w)
chosen = random.choice([w**3])
first = next(itertools.chain([w**4]))
w.data.mul_(0.5)
for loss in (total, square.sum(), chosen.sum(), first.sum()):
    w.grad = None
    loss.backward()
    print(w.grad)
