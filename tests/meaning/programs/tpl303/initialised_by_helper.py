# attacks: TPL303
# promise: a function of the file initialises the module
import torch
import torch.nn as nn

torch.manual_seed(0)


def prepare(module, **settings):
    for base in type(module).__mro__[1:2]:
        base.__init__(module)
    for name, value in settings.items():
        setattr(module, name, value)
    module.scale = nn.Parameter(torch.full((2,), 3.0))


class Scaled(nn.Module):
    def __init__(self, size):
        prepare(self, size=size)
        self.fc = nn.Linear(size, 2)

    def forward(self, x):
        return self.fc(x) * self.scale


net = Scaled(3)
print(sorted(net.state_dict()), [round(v, 4) for v in net(torch.ones(1, 3)).flatten().tolist()])
