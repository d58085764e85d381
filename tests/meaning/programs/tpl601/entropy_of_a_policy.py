# attacks: TPL601
# promise: what is computed of log probabilities, in other dimensions and types, stays the same
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
policy = nn.Linear(4, 3).double()
x = torch.randn(5, 2, 4, dtype=torch.float64)
logits = policy(x)
one = torch.log(F.softmax(logits, dim=-1))
two = logits.softmax(1).log()
three = torch.log(torch.softmax(logits, 0, dtype=torch.float32))
four = torch.log(torch.exp(logits).sum(dim=(0, 1), keepdim=True))
for values in (one, two, three, four):
    (gradient,) = torch.autograd.grad(values.sum(), policy.weight, retain_graph=True)
    print(values.dtype, tuple(values.shape), round(values.sum().item(), 3), round(gradient.abs().sum().item(), 2))
