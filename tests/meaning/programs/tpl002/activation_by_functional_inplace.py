# attacks: TPL002
# promise: a function of torch changes in place what it is given
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
fc = nn.Linear(3, 3)
gate = torch.sigmoid(fc(torch.randn(2, 3)) - 0.5)
sparse = F.threshold(gate.float().data, 0.5, 0.0, inplace=True)
gate.sum().backward()
print(int((sparse == 0).sum()), [round(v, 4) for v in fc.bias.grad.tolist()])

fc.zero_grad()
level = torch.tanh(fc(torch.ones(2, 3)))
torch.Tensor.mul_(torch.flatten(level).data, 0.5)
level.sum().backward()
print([round(v, 4) for v in fc.bias.grad.tolist()])
