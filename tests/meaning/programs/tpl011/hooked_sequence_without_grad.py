# attacks: TPL011
# promise: nobody sees the tensor that a module in a sequence changes in place
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Hardtanh(-0.2, 0.2, inplace=True), nn.Linear(4, 1))
seen = {}


def keep(name):
    def hook(module, inputs, output):
        seen[name] = output

    return hook


net[1].register_forward_hook(keep("tanh"))
net[2].register_forward_hook(keep("clipped"))
with torch.no_grad():
    out = net(torch.randn(3, 4))
print(round(out.sum().item(), 5))
print({name: round(value.abs().max().item(), 5) for name, value in seen.items()})
print(seen["tanh"].data_ptr() == seen["clipped"].data_ptr())
