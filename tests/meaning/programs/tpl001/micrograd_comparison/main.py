# attacks: TPL001
# promise: what `parameters()` gives is a tensor of torch
"""Trains the same neuron in a hand-written autograd engine and in torch."""
import torch
from engine import Neuron

torch.manual_seed(0)
neuron = Neuron([0.5, -0.25])
for _ in range(10):
    loss = neuron.loss([(1.0, 2.0, 1.0), (2.0, -1.0, -1.0)])
    neuron.zero_grad()
    loss.backward()
    for p in neuron.parameters():
        p.data += -0.05 * p.grad

w = torch.tensor([0.5, -0.25], requires_grad=True)
for _ in range(10):
    x, y = torch.tensor([[1.0, 2.0], [2.0, -1.0]]), torch.tensor([1.0, -1.0])
    (g,) = torch.autograd.grad(((x @ w - y) ** 2).sum(), w)
    w = (w - 0.05 * g).detach().requires_grad_()
print([round(p.data, 5) for p in neuron.parameters()])
print([round(v, 5) for v in w.tolist()])
