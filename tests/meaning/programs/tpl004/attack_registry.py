# attacks: TPL004
# promise: a sum in a function with `.eval()` is never back-propagated
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
OBJECTIVES = {}


def objective(function):
    OBJECTIVES[function.__name__] = function
    return function


@objective
def targeted(net, images, target):
    net.eval()
    total = 0
    for scale in (1.0, 0.5):
        total = total + F.cross_entropy(net(images * scale), target)
    return total


x = torch.randn(5, 4, requires_grad=True)
label = torch.full((5,), 2)
for step in range(3):
    value = OBJECTIVES["targeted"](model, x, label) + 0.01 * x.pow(2).sum()
    value.backward()
    with torch.no_grad():
        x -= 0.1 * x.grad.sign()
    x.grad = None
print(" ".join(f"{entry:.3f}" for entry in x.flatten().tolist()))
