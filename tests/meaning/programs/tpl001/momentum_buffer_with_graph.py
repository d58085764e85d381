# attacks: TPL001
# promise: what was made there was saved by a product on the line before
import torch

torch.manual_seed(0)


def trajectory(start: torch.Tensor, steps):
    x = torch.ones(3, requires_grad=True)
    path = dict(position=x)
    energy = (path["position"] * x * start).sum()
    for _ in range(steps):
        x.data.add_(0.5)
    return energy, x


energy, x = trajectory(torch.tensor([1.0, 2.0, 3.0]), 2)
energy.backward()
print([round(v, 4) for v in x.grad.tolist()], x.tolist())
