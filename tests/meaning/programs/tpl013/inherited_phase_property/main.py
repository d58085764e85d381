# attacks: TPL013
# promise: a module of the file has torch's `train` and `eval`
import torch
from torch import nn

from phases import Phased

torch.manual_seed(0)


class Net(Phased, nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.fc(x))


net = Net()
net.eval
print(net.training, [round(v, 5) for v in net(torch.ones(1, 2)).flatten().tolist()])
net.train
print(net.training, net.switches)
