# attacks: TPL002
# promise: functions that change in place stand in other modules than torch
import operator
import random

import torch

random.seed(0)
torch.manual_seed(0)
w = torch.randn(6, requires_grad=True)
p = torch.exp(w)
scores = torch.squeeze(p).data
operator.imul(scores, 0.5)
p.sum().backward()
print([round(v, 4) for v in w.grad.tolist()])

v = torch.randn(6, requires_grad=True)
q = torch.sigmoid(v)
order = q.view(-1).data
order.__iadd__(1.0)
q.sum().backward()
print([round(one, 4) for one in v.grad.tolist()])
