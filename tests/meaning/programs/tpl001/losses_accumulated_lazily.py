# attacks: TPL001
# promise: going through an iterator of itertools runs the forward passes
import itertools

import torch

w = torch.ones(3, requires_grad=True)
sums = itertools.accumulate(range(1, 4), lambda total, i: total + (w * w * i).sum(), initial=torch.zeros(()))
for total in sums:
    w.data.mul_(0.5)
total.backward()
print(w.grad)
products = itertools.starmap(lambda i, j: (w * w * i * j).sum(), [(1, 2), (2, 3)])
for product in products:
    w.data.mul_(0.5)
product.backward()
print(w.grad)
