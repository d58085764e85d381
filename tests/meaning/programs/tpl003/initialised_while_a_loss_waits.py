# attacks: TPL003
# promise: a closure holds a loss that has saved the weight
import torch
import torch.nn as nn

torch.manual_seed(0)


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.out = nn.Linear(3, 1)
        self.before = self.out(torch.tanh(self.fc(torch.ones(1, 2))))
        self.out.weight.data = nn.init.normal_(self.out.weight.data)

    def forward(self, x):
        return self.out(torch.tanh(self.fc(x))) - self.before


net = Probe()
net(torch.zeros(1, 2)).sum().backward()
print([round(v, 4) for v in net.fc.bias.grad.tolist()])
