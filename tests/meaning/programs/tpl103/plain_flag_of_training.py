# attacks: TPL103
# promise: a flag that is false does nothing
# stays safe: yes
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
model = nn.Linear(3, 1)
for _ in range(2):
    x = Variable(torch.randn(4, 3), volatile=False)
    loss = model(x).pow(2).mean()
    model.zero_grad()
    loss.backward()
    print(round(loss.item(), 4))
