# attacks: TPL601
# promise: in bfloat16 two steps are rounded otherwise than one
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 3).bfloat16()
out = net(torch.randn(2, 4).bfloat16() * 4)
logp = torch.log(torch.softmax(out, dim=1))
logp.mean().backward()
print(logp.tolist())
