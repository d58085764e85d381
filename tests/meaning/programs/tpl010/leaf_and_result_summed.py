# attacks: TPL010
# promise: the tensor goes through lists of operations, and leaves are looped over
# shows: its gradient is None
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(2, 2)
other = nn.Linear(2, 2)
hidden = layer(torch.ones(3, 2))
loss = torch.cat([hidden, other(hidden)]).pow(2).sum()
loss.backward()
print(hidden.shape, [p.grad.norm().item() for p in layer.parameters()])
print(hidden.grad)
