# attacks: TPL001
# promise: functions of Python's libraries put losses into lists
import bisect
from operator import iconcat

import torch

w = torch.ones(3, requires_grad=True)
ranked, listed = [], []
for i in range(1, 4):
    bisect.insort(ranked, (w * w * i).sum(), key=float)
    iconcat(listed, [(w**3).sum()])
    w.data.mul_(0.5)
for loss in (ranked[-1], listed[0]):
    loss.backward()
    print(w.grad)
