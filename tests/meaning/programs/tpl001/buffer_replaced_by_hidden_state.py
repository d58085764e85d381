# attacks: TPL001
# promise: the buffers of a module have no graph
"""A recurrent module keeps its hidden state as a buffer; the trainer fades all buffers."""
import torch
from torch import nn

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("hidden", torch.zeros(2))


def advance(cell, x):
    cell.hidden = cell.fc(x) + cell.hidden
    return cell


cell = Cell()
for x in torch.randn(3, 2):
    advance(cell, x)
    for buffer in cell.buffers():
        buffer.data.mul_(0.5)
cell.hidden.sum().backward()
print([round(v, 5) for v in cell.hidden.tolist()], [round(v, 5) for v in cell.fc.bias.grad.tolist()])
