# attacks: TPL002
# promise: an inference_mode block has autograd off whatever its flag says
"""One step function for training and evaluation."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)


def step(x, training):
    with torch.inference_mode(not training):
        logits = net(x)
        confident = logits.data.softmax(-1) * 2
        loss = -(confident * logits.log_softmax(-1)).mean()
    if training:
        loss.backward()
    return round(loss.item(), 6), confident.requires_grad


x = torch.randn(4, 3)
print(step(x, training=False))
print(step(x, training=True))
print([round(v, 6) for v in net.weight.grad.flatten().tolist()])
