# attacks: TPL304
# promise: a callback that is given the outputs looks at them; this one keeps them in a closure
import torch
from torch import nn


def keeper():
    kept = []
    return kept.append, lambda: torch.cat(kept)


def test(model, loader, on_output):
    model.eval()
    total = 0.0
    for x in loader:
        output = model(x)
        on_output(output)
        total += output.abs().mean().item()
    return total


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.Linear(4, 2))
keep, everything = keeper()
print(round(test(model, [torch.randn(2, 3) for _ in range(3)], keep), 4))
outputs = everything()
print(outputs.shape, outputs.requires_grad, outputs.is_leaf)
