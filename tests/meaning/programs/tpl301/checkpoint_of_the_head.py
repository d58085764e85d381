# attacks: TPL301
# promise: registering changes nothing but training; a state that was saved before no longer loads
import io

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)


class Net(Head):
    """Frozen random features below a head that is trained, saved and loaded alone."""

    def __init__(self):
        super().__init__()
        self.features = [nn.Linear(3, 4), nn.Linear(4, 4)]

    def forward(self, x):
        for layer in self.features:
            x = layer(x).relu()
        return self.out(x)


torch.manual_seed(0)
buffer = io.BytesIO()
torch.save(Head().state_dict(), buffer)
buffer.seek(0)
net = Net()
net.load_state_dict(torch.load(buffer))
print(round(net(torch.ones(1, 3)).sum().item(), 4))
