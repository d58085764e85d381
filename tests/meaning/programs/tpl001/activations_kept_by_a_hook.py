# attacks: TPL001
# promise: copy_ into a fresh tensor leaves it without graph
"""A forward hook copies activations, with their graph, into a store that is scaled afterwards."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
store = torch.zeros(2, 4)


def keep(module, inputs, output):
    store.copy_(output)


net[0].register_forward_hook(keep)
out = net(torch.randn(2, 3))
store.data.mul_(10)
(out.sum() + store.sum()).backward()
print(round(store.sum().item(), 5), [round(v, 5) for v in net[0].bias.grad.tolist()])
