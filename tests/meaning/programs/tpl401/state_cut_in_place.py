# attacks: TPL401
# promise: the hidden state is detached in place, which a view refuses
import torch
from torch import nn
torch.manual_seed(0)
rnn = nn.GRUCell(2, 3).double()
h = torch.zeros(6).view(2, 3).double()
for chunk in torch.ones(2, 4, 2, 2, dtype=torch.float64):
    h.detach_()
    for x in chunk:
        h = rnn(x, h)
    h.sum().backward()
print(round(rnn.weight_hh.grad.sum().item(), 4))
