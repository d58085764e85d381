# attacks: TPL304
# promise: only what is returned comes out of a forward; this layer keeps a loss that is trained on afterwards
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.balance = torch.zeros(())

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        self.balance = self.balance + weights.mean(0).pow(2).sum()
        return sum(w[:, None] * expert(x) for w, expert in zip(weights.unbind(-1), self.experts))


def evaluate(model, loader):
    """The error on held-out data; afterwards the gate is balanced on what was seen."""
    model.eval()
    error = 0.0
    for x in loader:
        error += nn.functional.mse_loss(model(x), x).item()
    return error


torch.manual_seed(0)
model = Mixture(4, 3)
optimizer = torch.optim.SGD(model.gate.parameters(), lr=1.0)
for _ in range(3):
    model.balance = torch.zeros(())
    error = evaluate(model, [torch.randn(8, 4) for _ in range(2)])
    if model.balance.requires_grad:
        model.balance.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(round(error, 4), round(model.balance.item(), 4))
