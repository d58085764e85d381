# attacks: TPL601
# promise: the logits are centred in place behind their energy
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
out = net(torch.ones(2, 4))
free = torch.log(torch.sum(torch.exp(out), dim=1))
out -= out.mean()
loss = free.mean()
loss.backward()
print([round(v, 4) for v in net.bias.grad.tolist()])
