# attacks: TPL106
# promise: a factor can be computed behind the operands
import torch

torch.manual_seed(0)
theta = torch.randn(4)
target = torch.ones(4)
for step in range(4):
    gradient = theta - target
    theta.add_(-0.1, gradient)
    theta.add_(0.1 * torch.rand(1).item(), torch.randn(4))
print([round(v, 5) for v in theta.tolist()])
total = torch.addcmul(theta, torch.rand(1).item(), torch.randn(4), torch.randn(4))
print([round(v, 5) for v in total.tolist()])
