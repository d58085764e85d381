# attacks: TPL101
# promise: a factory makes a new tensor each time
import torch
from torch.autograd import Variable

torch.manual_seed(0)
buffer = torch.empty(2, 3)
target = torch.ones(2, 3)
for step in range(3):
    latent = Variable(torch.randn(2, 3, out=buffer), requires_grad=True)
    (latent - target).pow(2).sum().backward()
    print(f"{latent.grad.norm().item():.4f}", buffer.requires_grad)
