# attacks: TPL304
# promise: the default of the function is replaced from outside
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)


def evaluate(batches=torch.zeros(1, 1, 3)):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).sum().item()
    return total


print(round(evaluate(), 4))
evaluate.__defaults__ = (torch.ones(3, 2, 3),)
print(round(evaluate(), 4))
