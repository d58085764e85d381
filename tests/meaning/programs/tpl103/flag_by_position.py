# attacks: TPL103
# promise: a third argument is no more than a flag
import torch
from torch.autograd import Variable

torch.manual_seed(0)
weight = torch.randn(3)
frozen = Variable(weight, False, False)
weight.requires_grad_()
penalty = (weight - frozen + 1).pow(2).sum()
penalty.backward()
print(weight.grad.tolist(), frozen.requires_grad)
