# attacks: TPL101
# promise: nothing is called on the wrapped tensor that changes it
import torch
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
sample = torch.randn(3)
probe = Variable(sample).requires_grad_()
row = Variable(sample).unsqueeze_(0)
model(probe).backward()
print(probe.grad.tolist() == model.weight[0].tolist(), sample.requires_grad, tuple(sample.shape), tuple(row.shape))
