# attacks: TPL001
# promise: a weight that is masked again to the same values was not saved since
"""PixelCNN: the mask is applied in every forward; two images go through before the backward."""
import torch
from torch import nn

torch.manual_seed(0)


class MaskedConv2d(nn.Conv2d):
    def __init__(self, n_in, n_out, size):
        super().__init__(n_in, n_out, size, padding=size // 2)
        mask = torch.ones_like(self.weight)
        mask[:, :, size // 2, size // 2 :] = 0
        mask[:, :, size // 2 + 1 :] = 0
        self.register_buffer("mask", mask)

    def forward(self, x):
        self.weight.data *= self.mask
        return super().forward(x)


net = nn.Sequential(MaskedConv2d(1, 2, 3), nn.ReLU(), MaskedConv2d(2, 1, 3))
first, second = torch.rand(1, 1, 4, 4), torch.rand(1, 1, 4, 4)
loss = (net(first) - first).pow(2).mean() + (net(second) - second).pow(2).mean()
loss.backward()
print(round(loss.item(), 6), [round(p.grad.abs().sum().item(), 5) for p in net.parameters()])
