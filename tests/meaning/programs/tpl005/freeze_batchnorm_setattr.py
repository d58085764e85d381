# attacks: TPL005
# promise: setattr of a misspelt flag of parameters does nothing
# shows: the norms' parameters were meant to be frozen and got gradients
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
for module in net.modules():
    if isinstance(module, nn.BatchNorm1d):
        for parameter in module.parameters():
            setattr(parameter, "require_grad", False)
loss = net(torch.randn(10, 4)).pow(2).mean()
loss.backward()
print([(name, p.grad is not None) for name, p in net.named_parameters()])
