# attacks: TPL304
# promise: a decorated function is the same to those who call it; this caller counts its arguments
import torch
from torch import nn


def evaluate(model, loader, epoch):
    model.eval()
    wrong = 0
    for x, y in loader:
        wrong += (model(x).argmax(-1) != y).sum().item()
    return epoch, wrong


class Callbacks:
    """Calls each with as many of the arguments as it takes."""

    def __init__(self, *callbacks):
        self.callbacks = callbacks

    def at_end(self, *given):
        return [callback(*given[: callback.__code__.co_argcount]) for callback in self.callbacks]


def size(model):
    return sum(p.numel() for p in model.parameters())


torch.manual_seed(0)
model = nn.Linear(3, 2)
loader = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(2)]
print(Callbacks(size, evaluate).at_end(model, loader, 7))
