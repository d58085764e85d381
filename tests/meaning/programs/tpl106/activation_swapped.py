# attacks: TPL106
# promise: F.tanh is torch.tanh, whatever the program made of it
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def hard_tanh(x):
    return x.clamp(-1, 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return F.tanh(self.fc(x) * 3)


net, x = Net(), torch.randn(4, 3)
print(round(net(x).sum().item(), 5))
original = F.tanh
setattr(F, "tanh", hard_tanh)  # what the accelerator computes
print(round(net(x).sum().item(), 5))
setattr(F, "tanh", original)
