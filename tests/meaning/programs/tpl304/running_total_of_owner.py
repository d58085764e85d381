# attacks: TPL304
# promise: what is set, by a name in a string, on what the caller lent keeps the graph for its later use
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Tally:
    total: torch.Tensor = field(default_factory=lambda: torch.zeros(()))
    batches: int = 0

    def spend(self, optimizer):
        optimizer.zero_grad()
        getattr(self.total, "backward")()
        optimizer.step()
        return self.total.item() / self.batches


def collect(model, batches, tally):
    model.eval()
    for x in batches:
        setattr(tally, "total", tally.total + (model(x) - model(x.flip(-1))).pow(2).mean())
        tally.batches += 1


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.3), nn.Linear(5, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
batches = [torch.randn(4, 3) for _ in range(3)]
for _ in range(3):
    tally = Tally()
    collect(net, batches, tally)
    print(round(tally.spend(optimizer), 4))
