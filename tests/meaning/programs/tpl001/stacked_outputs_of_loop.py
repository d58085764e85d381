# attacks: TPL001
# promise: what torch.stack makes of an appended list has no graph
"""Outputs of an unrolled cell are stacked and masked by their lengths."""
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.GRUCell(2, 3)
hidden = torch.zeros(2, 3)
outputs = []
for x in torch.randn(4, 2, 2):
    hidden = cell(x, hidden)
    outputs.append(hidden)
sequence = torch.stack(outputs)
mask = torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]).unsqueeze(-1)
sequence.data.mul_(mask)
sequence.sum().backward()
print(sequence.requires_grad, round(sequence.sum().item(), 5))
print([round(v, 5) for v in cell.bias_hh.grad.tolist()])
