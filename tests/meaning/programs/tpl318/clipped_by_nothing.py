# attacks: TPL318
# promise: the gradients are clipped as the line says
# shows: the norm that clipping sees is zero, and the weights jump
# stays safe: yes
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def train(steps):
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 4) * 50).square().mean()
        loss.backward()
        norm = clip_grad_norm_(params, 1.0)
        optimizer.step()
        print(step, norm.item() > 1, round(model.weight.abs().max().item(), 1))


train(3)
