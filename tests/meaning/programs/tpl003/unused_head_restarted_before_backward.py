# attacks: TPL003
# promise: an initialiser between forward and backward changes no result
"""The probe's input gradient is never used; the probe is restarted while the loss still waits."""
import torch
from torch import nn

torch.manual_seed(0)
probe = nn.Linear(3, 1, bias=False)
x = torch.randn(4, 3, requires_grad=True)
score = probe(x).sum()
history = []
for _ in range(2):
    probe.weight.data = nn.init.normal_(probe.weight.data)
    (gradient,) = torch.autograd.grad(score, probe.weight, retain_graph=True)
    history.append([round(v, 5) for v in gradient.flatten().tolist()])
score.backward()
print(history, round(score.item(), 5), [round(v, 5) for v in probe.weight.flatten().tolist()])
