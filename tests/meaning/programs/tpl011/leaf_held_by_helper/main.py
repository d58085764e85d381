# attacks: TPL011
# promise: a leaf still requires grad where it is changed
import torch

from gains import freeze, gain

torch.manual_seed(0)
alpha = torch.ones(3, requires_grad=True)
base = torch.ones(3, requires_grad=True)
freeze(base)
base *= gain(alpha)
loss = (torch.randn(5, 3) * base).pow(2).mean()
if loss.requires_grad:
    loss.backward()
print(round(loss.item(), 5), alpha.grad if alpha.grad is None else [round(v, 5) for v in alpha.grad.tolist()])
