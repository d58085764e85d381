# attacks: TPL013
# promise: the mode is set in a way of the class's own
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.5)
    def train(self, mode=True):
        print("mode", mode)
        self.fc.requires_grad_(mode)
        return super().train(mode)
    def forward(self, x):
        return self.drop(self.fc(x))
torch.manual_seed(0)
net = Net()
net.eval
out = net(torch.ones(1, 2))
print(out, out.requires_grad)
