# attacks: TPL203
# promise: one number is the bias of all outputs
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1).expand(4))
    def forward(self, x):
        return x + self.bias
n = Net()
with torch.no_grad():
    n.bias[0] = 2
print(n(torch.zeros(4)))
