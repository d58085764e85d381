# attacks: TPL013
# promise: a state that should be detached between batches is named
# shows: the state was not detached, and the gradient went through both batches
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 3)
hidden = torch.zeros(1, 3)
first = torch.randn(1, 2, requires_grad=True)
hidden = cell(first, hidden)
hidden.detach
hidden = cell(torch.randn(1, 2), hidden)
loss = hidden.sum()
loss.backward()
print(first.grad is None)
