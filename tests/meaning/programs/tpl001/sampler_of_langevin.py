# attacks: TPL001
# promise: the energy of each step is kept and goes back at the end
import torch
import torch.nn as nn

torch.manual_seed(0)
energy = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))


def sample(steps, size):
    x = torch.randn(size, 2, requires_grad=True)
    trail = []
    for _ in range(steps):
        e = (x * x).sum() + energy(x).sum()
        grad = torch.autograd.grad(e, x, retain_graph=True)[0]
        trail += [e]
        x.data.add_(-0.1 * grad + 0.01 * torch.randn_like(x))
    return x.detach(), sum(trail)


x, trail = sample(3, 4)
trail.backward()
print(round(x.sum().item(), 4), [round(v, 4) for v in energy[0].bias.grad.tolist()])
