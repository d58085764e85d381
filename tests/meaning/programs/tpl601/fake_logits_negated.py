# attacks: TPL601
# promise: the logits are negated in place behind their logarithm
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
out = net(torch.ones(2, 4))
real = torch.log(torch.sigmoid(out))
out.neg_()
fake = torch.log(torch.sigmoid(out))
loss = -(real.mean() + fake.mean())
loss.backward()
print([round(v, 4) for v in net.bias.grad.tolist()])
