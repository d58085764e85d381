# attacks: TPL010
# promise: a context of the program's own leaves autograd on
from contextlib import nullcontext

import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)


def probe(x, freeze_encoder):
    context = torch.no_grad() if freeze_encoder else nullcontext()
    with context:
        hidden = encoder(x)
    loss = head(hidden).pow(2).mean()
    loss.backward()
    return hidden.grad, round(loss.item(), 5)


print(probe(torch.randn(4, 3), freeze_encoder=True))
print(encoder.weight.grad, round(head.weight.grad.sum().item(), 5))
