# attacks: TPL204
# promise: a model that has only seen batches of one gives the same, and takes larger ones now
# stays safe: yes
import torch
from torch import nn


class Pointwise(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(3, channels, 1)
        self.fc = nn.Linear(channels, 2)

    def forward(self, x):
        x = self.conv(x).permute(2, 0, 1)
        return self.fc(x.view(-1, x.size(-1)))


torch.manual_seed(0)
y = Pointwise(4)(torch.randn(1, 3, 5)[:, :, :1])
print(y.shape, round(y.sum().item(), 4))
