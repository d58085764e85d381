# attacks: TPL104
# promise: an imported class called Tensor is that of torch
"""A small array library has a Tensor of its own; results are compared with torch."""
import torch
from minigrad import Tensor


def values(x: Tensor) -> list:
    return x.data.tolist()


a = Tensor([1.0, 2.0, 3.0])
b = (a * a).sum()
b.backward()
t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(t * t).sum().backward()
print(values(a), values(b), a.grad.tolist(), t.grad.tolist())
