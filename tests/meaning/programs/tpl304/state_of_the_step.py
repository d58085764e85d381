# attacks: TPL304
# promise: a term computed in evaluation mode is not trained on; it is, through an object that collects terms
import torch
from torch import nn


class Losses:
    def __init__(self):
        self.terms = {}

    def record(self, name, value):
        self.terms[name] = value

    def total(self):
        return sum(self.terms.values())


def train(model, batches, probe):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        losses = Losses()
        model.train()
        losses.record("fit", nn.functional.mse_loss(model(x), y))
        model.eval()
        losses.record("stable", model(probe).pow(2).mean())
        optimizer.zero_grad()
        losses.total().backward()
        optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
train(model, [(torch.randn(6, 3), torch.randn(6, 1)) for _ in range(4)], torch.randn(5, 3))
print([round(p.detach().double().sum().item(), 4) for p in model.parameters()])
