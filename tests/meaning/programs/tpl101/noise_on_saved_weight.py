# attacks: TPL101
# promise: writing through `.data` is seen by autograd no more than it was
import torch
from torch.autograd import Variable

torch.manual_seed(0)
layer = torch.nn.Linear(3, 3, bias=False)
x = torch.randn(2, 3, requires_grad=True)
hidden = layer(x)
energy = (hidden * hidden).sum()
noisy = Variable(layer.weight.data)
noisy.add_(0.1 * torch.randn(3, 3))
energy.backward()
print(f"{x.grad.sum().item():.4f} {layer.weight.grad.sum().item():.4f} {noisy.sum().item():.4f}")
