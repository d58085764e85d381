# attacks: TPL304
# promise: grad mode behind an evaluation is what it was before; an imported call turns autograd off for good
import torch
from serving import prepare
from torch import nn


def evaluate(model, loader):
    prepare(model)
    model.eval()
    right = 0
    for x, y in loader:
        right += (model(x).argmax(-1) == y).sum().item()
    return right


torch.manual_seed(0)
model = nn.Linear(3, 2)
print(evaluate(model, [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(2)]))
scores = model(torch.ones(1, 3))
print(scores.requires_grad, [round(v, 4) for v in scores.flatten().tolist()])
