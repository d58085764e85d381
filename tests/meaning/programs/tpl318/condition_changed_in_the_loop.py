# attacks: TPL318
# promise: the first loop changes what the generator's condition asks for
import torch
from torch import nn


def filled(net):
    params = (p for p in net.parameters() if p.requires_grad)
    for p in params:
        net[1].bias.requires_grad_(False)
        p.data.fill_(1.0)
    norm = nn.utils.clip_grad_norm_(params, 1.0)
    return net[1].bias.item() == 1.0, norm.item()


torch.manual_seed(0)
print(filled(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))))
