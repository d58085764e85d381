# attacks: TPL005
# promise: a keyword of a function of torch is torch's own
import torch
from torch.utils import checkpoint as cp

from blocks import mixer

torch.manual_seed(0)
x = torch.randn(4, 3, requires_grad=True)
out = cp.checkpoint(mixer, x, use_reentrant=False, require_grad=True)
frozen = torch.utils.checkpoint.checkpoint(mixer, x, use_reentrant=False, require_grad=False)
print(round(out.sum().item(), 5), round(frozen.sum().item(), 5))
out.sum().backward()
print(x.grad.tolist())
