# attacks: TPL106
# promise: the function has another name today
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1)
        nn.init.kaiming_normal(self.conv.weight)

    def forward(self, x):
        return F.upsample(torch.relu(self.conv(x)), scale_factor=2, mode="nearest")


out = Decoder()(torch.ones(1, 1, 3, 3))
print(out.shape, round(out.sum().item(), 4))
