# attacks: TPL304
# promise: a model computes the same without a graph; this one of another file asks whether there will be one
import torch
from layers import Quantised
from torch import nn


def evaluate(model, loader):
    model.eval()
    error = 0.0
    for x in loader:
        error += nn.functional.l1_loss(model(x), x).item()
    return error / len(loader)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), Quantised(0.25))
print(round(evaluate(model, [torch.randn(3, 4) for _ in range(2)]), 4))
