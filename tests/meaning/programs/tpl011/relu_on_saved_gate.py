# attacks: TPL011
# promise: training raises as the module stands
# shows: the backward raised
# stays safe: yes
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        gate[:, 0] = 1
        return x * gate


block = Block(3)
out = block(torch.randn(4, 3))
F.mse_loss(out, torch.zeros(4, 3)).backward()
print(round(out.sum().item(), 5), round(block.fc.weight.grad.abs().sum().item(), 5))
