# attacks: TPL101
# promise: a hook on one name hears nothing of the other
import torch
from torch.autograd import Variable

torch.manual_seed(0)
base = torch.ones(2)
first, second = Variable(base), Variable(base)
for part in (first, second):
    part.requires_grad = True
heard = []
first.register_hook(lambda gradient: heard.append(gradient.tolist()))
(first * 2 + second * 3).sum().backward()
print(heard, first.grad.tolist(), second.grad.tolist())
