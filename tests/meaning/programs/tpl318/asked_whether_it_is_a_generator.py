# attacks: TPL318
# promise: code that asks what it has is told the same
import types

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def train():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    model(torch.ones(2, 4)).sum().backward()
    clip_grad_norm_(params, 1.0)
    optimizer.step()
    print("generator" if isinstance(params, types.GeneratorType) else "list", next(params, None) is None)


train()
