# attacks: TPL101
# promise: what a function of torch returns is a new tensor
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
table = torch.empty(3, 2)
weight = Variable(nn.init.xavier_uniform_(table), requires_grad=True)
x = torch.randn(4, 3)
(x @ weight).pow(2).sum().backward()
print(f"{weight.grad.sum().item():.4f}", table.requires_grad, table.grad is None)
table.mul_(0.5)
print(f"{weight.sum().item():.4f}")
