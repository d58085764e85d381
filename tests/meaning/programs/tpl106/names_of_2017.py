# attacks: TPL106
# promise: the new names compute the same
# stays safe: yes
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
for layer in net:
    nn.init.kaiming_normal(layer.weight, a=0.1)
    nn.init.constant(layer.bias, 0.1)
criterion = nn.CrossEntropyLoss(size_average=False)
x, y = torch.randn(6, 3), torch.randint(0, 2, (6,))
out = net[1](F.tanh(net[0](x)))
loss = criterion(out, y) + F.mse_loss(F.sigmoid(out), torch.zeros(6, 2), size_average=True)
loss.backward()
nn.utils.clip_grad_norm(net.parameters(), 0.25)
for p in net.parameters():
    p.data.add_(-0.1, p.grad.data)
print(round(loss.item(), 5), [round(v, 5) for v in net[1].weight.detach().flatten().tolist()])
