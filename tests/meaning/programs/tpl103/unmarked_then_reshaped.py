# attacks: TPL103
# promise: without `volatile=False` nothing is left but the tensor itself
import torch
from torch.autograd import Variable

torch.manual_seed(0)
frame = torch.randn(2, 3)
columns = Variable(frame, volatile=False)
columns.t_()
columns.requires_grad = True
(columns * torch.arange(6.0).view(3, 2)).sum().backward()
print(tuple(frame.shape), tuple(columns.shape), frame.grad is None, columns.grad.tolist())
