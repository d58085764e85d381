# attacks: TPL101
# promise: a branch that is dead today may come to life
import torch
import torch.nn as nn
from torch.autograd import Variable


def to_number(value):
    """The number in a 0-dim tensor, as either API gives it."""
    if type(value) == Variable:
        return value.data.tolist()[0]
    return float(value)


torch.manual_seed(0)
model = nn.Linear(3, 2)
loss = nn.functional.cross_entropy(model(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1]))
loss.backward()
print(f"loss {to_number(loss):.4f}, norm {to_number(model.weight.grad.norm()):.4f}")
