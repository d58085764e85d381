# attacks: TPL304
# promise: `outputs = sink if sink is not None else []` is the caller's list, not one made here
import torch
from torch import nn


def evaluate(model, loader, sink=None):
    outputs = sink if sink is not None else []
    model.eval()
    hits = 0
    for x, y in loader:
        logits = model(x)
        outputs.append(logits)
        hits += (logits.argmax(-1) == y).sum().item()
    return hits


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
loader = [(torch.randn(5, 4), torch.randint(0, 3, (5,))) for _ in range(3)]
kept = []
print(evaluate(model, loader), evaluate(model, loader, kept))
entropy = torch.distributions.Categorical(logits=torch.cat(kept)).entropy().mean()
entropy.backward()
print(round(entropy.item(), 4), round(model[0].weight.grad.abs().sum().item(), 4))
