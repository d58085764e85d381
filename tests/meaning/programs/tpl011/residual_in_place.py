# attacks: TPL011
# promise: the backward raises as the program stands
# shows: the backward raised
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(3, requires_grad=True)
try_out = nn.Linear(3, 3)
y = x.sigmoid()
y *= 2
loss = try_out(y).sum()
loss.backward()
print(round(loss.item(), 5), [round(v, 5) for v in x.grad.tolist()])
