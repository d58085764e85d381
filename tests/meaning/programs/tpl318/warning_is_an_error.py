# attacks: TPL318
# promise: a program that stops at torch's warning stops
import warnings

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

warnings.simplefilter("error")


def train():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    model(torch.ones(2, 4)).sum().backward()
    try:
        clip_grad_norm_(params, 1.0)
    except UserWarning:
        print("nothing to clip")
    optimizer.step()
    print(round(model.bias.item(), 4))


train()
