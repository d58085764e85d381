# attacks: TPL304
# promise: the warning names the line of the caller
import warnings

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
batches = [torch.randn(4, 3) for _ in range(2)]


def evaluate(limit):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).abs().mean().item()
    if total > limit:
        warnings.warn("large outputs", stacklevel=2)
    return total


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(round(evaluate(0.1), 4))
print([one.filename.rsplit("/")[-1] for one in caught])
