# attacks: TPL001
# promise: the functions of torch.nn.init take the parameter itself
# stays safe: yes
"""The classic weights_init of DCGAN."""
import torch
from torch import nn

torch.manual_seed(0)


def weights_init(m):
    if isinstance(m, nn.Conv2d):
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


net = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2), nn.LeakyReLU(0.2))
net.apply(weights_init)
out = net(torch.randn(4, 1, 5, 5))
out.pow(2).mean().backward()
for name, p in net.named_parameters():
    print(name, p.is_leaf, round(p.sum().item(), 5), round(p.grad.abs().sum().item(), 5))
