# attacks: TPL101
# promise: floats become a leaf, whatever errors the code prints
# stays safe: yes
import torch
from torch.autograd import Variable

try:
    v = Variable(torch.ones(2).view(1, 2) + 1, requires_grad=True)
    w = Variable(torch.zeros(2).view(2, 1), requires_grad=True)
except RuntimeError as error:
    print("failed")
else:
    (v @ w).sum().backward()
    print(v.grad, w.grad)
