# attacks: TPL004
# promise: a property that hands the sum out is read as a number
import torch
import torch.nn as nn


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    @property
    def mean(self):
        return self.total / max(self.count, 1)

    def step(self, loss, optimizer):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        self.total += loss
        self.count += 1


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
meter = Meter()
for x in torch.randn(4, 5, 3):
    meter.step((model(x) - 1).pow(2).mean(), optimizer)
print(f"{meter.mean.log().item():.4f} after {meter.count}")
