# attacks: TPL101
# promise: every form of a factory takes `requires_grad`
import torch
from torch.autograd import Variable

torch.manual_seed(0)
mean, std = torch.zeros(3), torch.tensor([0.1, 1.0, 2.0])
theta = Variable(torch.normal(mean, std), requires_grad=True)
for _ in range(3):
    loss = (theta - 1).pow(2).sum()
    (gradient,) = torch.autograd.grad(loss, theta)
    theta = Variable(theta - 0.1 * gradient, requires_grad=True)
print([f"{value:.4f}" for value in theta.tolist()])
