# attacks: TPL004
# promise: a meter keeps what it is given, and an early stop asks it for the object
import torch
import torch.nn as nn

torch.manual_seed(0)


class Meter:
    def __init__(self):
        self.values, self.total = [], 0.0

    def update(self, value):
        self.values.append(value)
        self.total += value

    def __contains__(self, value):
        return any(value is one for one in self.values)

    def __float__(self):
        return float(self.total) / len(self.values)


model, meter = nn.Linear(3, 1), Meter()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = nn.functional.mse_loss(model(torch.randn(4, 3)), torch.zeros(4, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.update(loss)
print(loss in meter, round(float(meter), 4), meter.values[-1] is loss)
