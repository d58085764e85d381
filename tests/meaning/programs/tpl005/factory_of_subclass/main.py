# attacks: TPL005
# promise: a keyword of a method of tensors is torch's own
import torch

from tracked import Tracked

torch.manual_seed(0)
x: torch.Tensor = Tracked.of(torch.randn(3, 2))
y = x.new_like(require_grad=True)
y.sum().backward()
print(type(y).__name__, y.grad.tolist())
print(round(x.sum().item(), 5))
