# attacks: TPL001
# promise: a partial object holds the prediction when the weights are rescaled
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 2)
score = functools.partial(F.cross_entropy, head(torch.relu(body(torch.randn(5, 3)))))
head.weight.data.mul_(0.5)
loss = score(torch.tensor([0, 1, 1, 0, 1]))
loss.backward()
print([round(v, 4) for v in body.bias.grad.tolist()])
