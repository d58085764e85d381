# attacks: TPL101
# promise: the annotations of a function are shown
import torch
from torch.autograd import Variable


def loss(output: Variable, target: Variable, weight: float = 1.0) -> Variable:
    return (output - target).pow(2).mean() * weight


for name, kind in loss.__annotations__.items():
    print(name, kind if isinstance(kind, str) else kind.__name__)
print(loss(torch.ones(2), torch.zeros(2)).item())
