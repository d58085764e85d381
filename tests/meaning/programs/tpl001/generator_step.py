# attacks: TPL001
# promise: advancing a generator in the statement runs no autograd
"""A generator yields gradient-descent directions; each `next` runs a backward pass."""
import torch

torch.manual_seed(0)


def directions(params, batches):
    velocity = torch.zeros_like(params)
    for x, y in batches:
        loss = (x @ params - y).pow(2).mean()
        (gradient,) = torch.autograd.grad(loss, params)
        velocity = 0.9 * velocity + gradient
        yield velocity


w = torch.zeros(3, requires_grad=True)
true = torch.tensor([1.0, 2.0, 3.0])
data = []
for _ in range(30):
    x = torch.randn(8, 3)
    data.append((x, x @ true))
flow = directions(w, data)
for _ in range(30):
    w.data.sub_(next(flow), alpha=0.05)
print([round(v, 3) for v in w.tolist()])
