# attacks: TPL304
# promise: nothing here is back-propagated; a closure is, in what it is handed to
import torch
from torch import nn


def descend(objective, variable, steps, rate):
    for _ in range(steps):
        variable.grad = None
        objective().backward()
        variable.data.sub_(rate * variable.grad)


def calibrate(model, loader, temperature, solve):
    model.eval()
    logits, labels = [], []
    for x, y in loader:
        logits.append(model(x))
        labels.append(y)
    scores, truth = torch.cat(logits), torch.cat(labels)

    def objective():
        return nn.functional.cross_entropy(scores.detach() / temperature, truth)

    solve(objective, temperature, 5, 0.1)
    return round(objective().item(), 4)


torch.manual_seed(0)
model = nn.Linear(3, 3)
loader = [(torch.randn(6, 3), torch.randint(0, 3, (6,))) for _ in range(2)]
temperature = nn.Parameter(torch.ones(1))
print(calibrate(model, loader, temperature, descend), round(temperature.item(), 4))
