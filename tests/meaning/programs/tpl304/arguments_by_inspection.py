# attacks: TPL304
# promise: a decorated function shows the same signature to a registry that asks for it
import inspect

import torch
from torch import nn

SETTINGS = {"top": 2, "verbose": False, "seed": 3}


def configured(function, settings):
    """Binds those of the settings that a function has parameters for."""
    names = inspect.getfullargspec(function).args
    chosen = {name: value for name, value in settings.items() if name in names}
    return lambda *args: function(*args, **chosen)


def evaluate(model, loader, top=1):
    model.eval()
    hits = 0
    for x, y in loader:
        best = model(x).topk(top, -1).indices
        hits += (best == y[:, None]).any(-1).sum().item()
    return hits


torch.manual_seed(0)
model = nn.Linear(3, 4)
loader = [(torch.randn(6, 3), torch.randint(0, 4, (6,))) for _ in range(3)]
print(configured(evaluate, SETTINGS)(model, loader))
