# attacks: TPL001
# promise: functools.partial of a factory makes what the factory makes
"""Variables come from a partial that asks for gradients."""
from functools import partial

import torch

torch.manual_seed(0)
variable = partial(torch.full, requires_grad=True)
centre = variable((2,), 0.5)
radius = variable((1,), 1.0)
points = torch.randn(50, 2)
for _ in range(10):
    distance = (points - centre).norm(dim=1)
    ((distance - radius) ** 2).mean().backward()
    centre.data -= 0.1 * centre.grad
    radius.data.sub_(0.1 * radius.grad).clamp_(min=0.1)
    centre.grad = radius.grad = None
print([round(v, 4) for v in centre.tolist()], round(radius.item(), 4))
