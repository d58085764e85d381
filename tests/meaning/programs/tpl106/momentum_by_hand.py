# attacks: TPL106
# promise: factors in front are given behind
# stays safe: yes
import torch

torch.manual_seed(0)
weight, lr, momentum, decay = torch.randn(3, 3), 0.1, 0.9, 1e-2
buffer, square = torch.zeros(3, 3), torch.zeros(3, 3)
for step in range(3):
    gradient = weight - torch.eye(3)
    gradient.add_(decay, weight)
    buffer.mul_(momentum).add_(1 - momentum, gradient)
    square.mul_(0.99).addcmul_(1 - 0.99, gradient, gradient)
    weight.addcdiv_(-lr, buffer, square.sqrt().add_(1e-8))
product = torch.addmm(0.5, weight, 2, buffer, square)
print([round(v, 5) for v in weight.flatten().tolist()])
print(round(product.sum().item(), 5), round(torch.sub(weight, 3, buffer).sum().item(), 5))
