# attacks: TPL318
# promise: what is frozen after the generator was made stays out of the optimizer
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def train():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    params = (p for p in model.parameters() if p.requires_grad)
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(params, lr=0.1)
    model(torch.ones(2, 4)).sum().backward()
    clip_grad_norm_(params, 1.0)
    optimizer.step()
    print(len(optimizer.param_groups[0]["params"]), round(model[1].bias.item(), 4))


train()
