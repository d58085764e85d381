# attacks: TPL001
# promise: inside a no_grad function autograd is off
"""Test-time adaptation inside an evaluation function that is decorated with no_grad."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)


@torch.no_grad()
def evaluate(x):
    before = model(x).softmax(1)
    with torch.enable_grad():
        entropy = -(model(x).softmax(1) * model(x).log_softmax(1)).sum(1).mean()
        (gradient,) = torch.autograd.grad(entropy, model.bias)
        model.bias.data.sub_(0.5 * gradient)
    return before, model(x).softmax(1)


before, after = evaluate(torch.randn(5, 3))
print([round(v, 4) for v in before[:, 0].tolist()])
print([round(v, 4) for v in after[:, 0].tolist()])
