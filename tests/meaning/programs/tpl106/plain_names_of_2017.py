# attacks: TPL106
# promise: the new names mean the same
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
nn.init.xavier_uniform(net.weight)
nn.init.constant(net.bias, 0.1)
criterion = nn.MSELoss(size_average=False)
out = F.sigmoid(net(torch.randn(2, 4)))
loss = criterion(out, torch.zeros(2, 3))
loss.backward()
norm = nn.utils.clip_grad_norm(net.parameters(), 0.25)
print(round(loss.item(), 4), round(float(norm), 4))
