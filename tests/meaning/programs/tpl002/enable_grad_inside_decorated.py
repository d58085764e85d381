# attacks: TPL002
# promise: a function decorated with no_grad has autograd off everywhere
"""Virtual adversarial direction inside an evaluation; the reference distribution is a constant."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 3)


@torch.no_grad()
def sensitivity(x):
    with torch.enable_grad():
        noise = torch.full_like(x, 0.1).requires_grad_()
        logits = net(x + noise)
        reference = logits.data.mul(2).softmax(-1)
        loss = -(reference * logits.log_softmax(-1)).sum()
        (direction,) = torch.autograd.grad(loss, noise)
    return direction


print([round(v, 5) for v in sensitivity(torch.randn(2, 3)).flatten().tolist()])
