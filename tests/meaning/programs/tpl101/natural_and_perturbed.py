# attacks: TPL101
# promise: neither name is asked to require grad afterwards
import torch
from torch.autograd import Variable

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
x = torch.randn(4, 3)
natural = Variable(x)
x.requires_grad_()
reference = net(natural)
distance = (net(x + 0.1) - reference).pow(2).sum() + (x - natural + 0.5).pow(2).sum()
(slope,) = torch.autograd.grad(distance, x)
print([f"{value:.4f}" for value in slope.sum(dim=1).tolist()], natural.requires_grad)
