# attacks: TPL001
# promise: the calls in the file are all the calls that there are
"""Noise gating from a library, used on a learned mask."""
import torch
from gating import gate

torch.manual_seed(0)
mask = torch.randn(6, requires_grad=True)
signal = torch.randn(6)
opened = gate(mask * 1.0)
(opened * signal).sum().backward()
print([round(v, 4) for v in opened.tolist()])
print([round(v, 4) for v in mask.grad.tolist()], [round(v, 4) for v in signal.tolist()])
