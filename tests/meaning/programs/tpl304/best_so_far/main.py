# attacks: TPL304
# promise: `nonlocal` keeps nothing for others; the enclosing function hands the value on
import torch
from polish import refine
from torch import nn


def make_search(model):
    best = None

    def evaluate(candidates):
        nonlocal best
        model.eval()
        for x in candidates:
            value = model(x).sum()
            if best is None or value.item() > best.item():
                best = value

    def result():
        return best

    return evaluate, result


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.Linear(4, 1))
search, result = make_search(model)
search([torch.randn(2, 3) for _ in range(4)])
print(refine(model, result()))
