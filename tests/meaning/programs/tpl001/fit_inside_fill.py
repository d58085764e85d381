# attacks: TPL001
# promise: what is called in the statement trains nothing
"""A temperature is fitted on held-out logits and written into the model."""
import torch
from torch import nn

torch.manual_seed(0)


def fit_temperature(logits, labels):
    scale = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([scale], lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(logits * scale, labels).backward()
        optimizer.step()
    return scale.item()


class Calibrated(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.temperature = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.fc(x) * self.temperature


model = Calibrated()
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
logits = model(x).detach()
model.temperature.data.fill_(fit_temperature(logits, y))
print("temperature", round(model.temperature.item(), 5))
