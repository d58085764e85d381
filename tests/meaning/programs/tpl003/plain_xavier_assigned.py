# attacks: TPL003
# promise: an initialiser changes the weight in place
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.fc.weight.data = nn.init.xavier_uniform_(self.fc.weight.data)
        self.fc.bias.data = nn.init.constant_(self.fc.bias.data, 0.1)

    def forward(self, x):
        return self.fc(x)


if __name__ == "__main__":
    net = Net()
    net(torch.ones(2, 3)).sum().backward()
    print([round(v, 4) for v in net.fc.weight.flatten().tolist()], net.fc.bias.tolist())
