# attacks: TPL001
# promise: the trunk is recomputed in the backward pass
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
trunk, head = nn.Linear(3, 4), nn.Linear(4, 1)
x = torch.randn(2, 3, requires_grad=True)
out = checkpoint(lambda h: torch.tanh(trunk(h)), x, use_reentrant=False)
pending = {"loss": head(out).sum()}
head.weight.data.zero_()
pending["loss"].backward()
print([round(v, 4) for v in x.grad.flatten().tolist()])
