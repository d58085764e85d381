# attacks: TPL001
# promise: a parameter that a constructor makes shares its memory with nothing
"""An embedding is made over the caller's table, which the caller's loss has saved."""
import torch
from torch import nn

torch.manual_seed(0)


class Words(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.weight = nn.Parameter(table)
        self.weight.data[0] = 0

    def forward(self, index):
        return self.weight[index]


table = torch.randn(4, 3)
scale = torch.ones(3, requires_grad=True)
loss = (table[1:] * scale).sum()
words = Words(table)
loss.backward()
print([round(v, 5) for v in scale.grad.tolist()], words.weight[0].tolist())
