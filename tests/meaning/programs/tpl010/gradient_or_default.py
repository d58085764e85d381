# attacks: TPL010
# promise: nobody reckons with None, unless it is compared with it
import torch

torch.manual_seed(0)
weight = torch.randn(3, requires_grad=True)
velocity = torch.zeros(3)
for step in range(3):
    scaled = weight * 2
    loss = (scaled - 1).pow(2).sum()
    weight.grad = None
    loss.backward()
    direction = scaled.grad or weight.grad
    velocity = 0.9 * velocity + direction
    with torch.no_grad():
        weight.sub_(0.05 * velocity)
    print(step, round(loss.item(), 5), [round(v, 5) for v in weight.tolist()])
