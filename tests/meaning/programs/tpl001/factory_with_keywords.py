# attacks: TPL001
# promise: a factory without a written-out requires_grad makes a tensor without grad
"""All variables of a fit are made with the same options."""
import torch

torch.manual_seed(0)
OPTIONS = {"dtype": torch.float64, "requires_grad": True}
slope = torch.zeros(1, **OPTIONS)
offset = torch.zeros(1, **OPTIONS)
x = torch.linspace(0, 1, 20, dtype=torch.float64)
y = 3 * x - 1
for _ in range(200):
    loss = (slope * x + offset - y).pow(2).mean()
    gradients = torch.autograd.grad(loss, (slope, offset))
    slope.data.sub_(0.5 * gradients[0])
    offset.data.sub_(0.5 * gradients[1])
print(round(slope.item(), 4), round(offset.item(), 4))
