# attacks: TPL304
# promise: settings are put into the globals of the function
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
LIMIT = 0.0


def evaluate(batches):
    model.eval()
    over = 0
    for x in batches:
        over += (model(x) > LIMIT).sum().item()
    return over


def configure(function, **settings):
    function.__globals__.update(settings)


data = torch.randn(3, 4, 3)
print(evaluate(data))
configure(evaluate, LIMIT=100.0)
print(evaluate(data))
