# attacks: TPL002
# promise: an operator on `.data` takes its values only
"""A report of learned scales, printed with the old way of formatting."""
import torch
from torch import nn

torch.manual_seed(0)
scale = nn.Parameter(torch.ones(3))
(scale * torch.arange(3.0)).sum().backward()
with torch.no_grad():
    scale -= 0.1 * scale.grad
    lines = ["scale: %s" % scale.data]
    lines.append("norm: %.4f" % scale.data.norm())
print("\n".join(lines))
