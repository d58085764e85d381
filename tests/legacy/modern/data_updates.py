import torch

torch.manual_seed(7)
x, y = torch.randn(16, 20), torch.randn(16, 3)
weights = [torch.randn(20, 10, requires_grad=True), torch.randn(10, 3, requires_grad=True)]
velocity = [torch.zeros_like(weight) for weight in weights]
history = []


def loss_of(first, second):
    return ((x @ first).clamp(min=0) @ second - y).pow(2).sum()


for step in range(50):
    loss = loss_of(*weights)
    history.append(loss.item())
    gradients = torch.autograd.grad(loss, weights)
    with torch.no_grad():
        for weight, gradient, speed in zip(weights, gradients, velocity):
            if step < 25:
                weight -= 1e-4 * gradient
            else:
                speed.mul_(0.5).add_(gradient, alpha=1e-4)
                weight -= speed

with torch.no_grad():
    weights[1][0] = 0
    history.append(loss_of(*weights).item())
