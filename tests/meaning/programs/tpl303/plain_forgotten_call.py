# attacks: TPL303
# promise: the module can be made
# shows: it cannot
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, size):
        self.fc = nn.Linear(size, 2)

    def forward(self, x):
        return self.fc(x)


net = Net(3)
print(net(torch.ones(1, 3)).shape)
