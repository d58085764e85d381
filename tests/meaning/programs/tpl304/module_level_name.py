# attacks: TPL304
# promise: a name of the module hands the last loss to the code below
import torch
from torch import nn


def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        globals()["last_loss"] = loss = criterion(model(x), y)
        total += loss.item()
    return total / len(loader)


def sharpness(model):
    """The size of the gradient of the last batch."""
    globals()["last_loss"].backward()
    return sum(p.grad.norm().item() for p in model.parameters())


torch.manual_seed(0)
model = nn.Linear(3, 2)
loader = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(2)]
print(round(validate(model, loader, nn.CrossEntropyLoss()), 4))
print(round(sharpness(model), 4))
