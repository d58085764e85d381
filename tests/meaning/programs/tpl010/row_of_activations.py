# attacks: TPL010
# promise: an item's gradient is wanted, where what it is taken of has none either
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.Linear(3, 3)
states = torch.tanh(cell(torch.randn(4, 3)))
loss = states[-1].sum()
loss.backward()
print("last:", states[-1].grad)
print([round(v, 5) for v in cell.bias.grad.tolist()])
