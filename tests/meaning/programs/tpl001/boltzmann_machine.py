# attacks: TPL001
# promise: contrastive divergence by hand, beside a free energy that goes back
import torch
import torch.nn as nn

torch.manual_seed(0)


class Boltzmann(nn.Module):
    def __init__(self, visible, hidden):
        super().__init__()
        self.w = nn.Parameter(torch.randn(visible, hidden) * 0.1)
        self.b = nn.Parameter(torch.zeros(hidden))

    def free_energy(self, v):
        return -torch.nn.functional.softplus(v @ self.w + self.b).sum(1).mean()

    def contrast(self, v, rate):
        h = torch.sigmoid(v @ self.w + self.b)
        again = torch.sigmoid(h @ self.w.t())
        self.w.data.add_(rate * (v.t() @ h - again.t() @ torch.sigmoid(again @ self.w + self.b)).detach())


machine = Boltzmann(3, 2)
data = torch.rand(5, 3)
energy = machine.free_energy(torch.tanh(data * machine.w.sum()))
machine.contrast(data, 0.1)
energy.backward()
print([round(v, 4) for v in machine.w.grad.flatten().tolist()])
