# attacks: TPL013
# promise: the mode of a model of the file is named
# shows: dropout was on
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(50, 1)

    def forward(self, x):
        return self.fc(self.drop(x))


net = Net()
net.eval
x = torch.ones(1, 50)
with torch.no_grad():
    print(torch.equal(net(x), net(x)))
