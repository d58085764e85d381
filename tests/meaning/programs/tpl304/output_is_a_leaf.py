# attacks: TPL304
# promise: what is printed tells whether the output has a graph
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)


def evaluate(batches):
    model.eval()
    inner, worst = 0, 0.0
    for x in batches:
        out = model(x)
        inner += not out.is_leaf
        worst = max(worst, out.abs().max().item())
    return inner, round(worst, 4)


print(evaluate(torch.randn(3, 2, 3)))
