# attacks: TPL304
# promise: the log names the function that called, two frames up
import inspect

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
LOG = []


def log(text):
    caller = inspect.stack()[2]
    LOG.append(f"{caller.function}: {text}")


def evaluate(batches):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).sum().item()
    log(f"{total:.3f}")
    return total


def fit(batches):
    evaluate(batches)


fit(torch.randn(3, 2, 3))
print(LOG)
