# attacks: TPL101
# promise: the gradient that one name is given is not that of the other
import torch
from torch.autograd import Variable

torch.manual_seed(0)
start = torch.zeros(3)
estimate = Variable(start)
optimizer = torch.optim.SGD([estimate], lr=0.5)
for sample in torch.randn(4, 3):
    estimate.grad = start - sample
    optimizer.step()
print("gradient on the start:", start.grad)
print([f"{value:.4f}" for value in start.tolist()])
