# attacks: TPL002
# promise: a lookup with no norm leaves its table alone
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layer = nn.Linear(2, 2)


def look_up():
    table = torch.exp(layer(torch.randn(4, 2)))
    print(F.embedding(torch.tensor([0, 1]), table.data, 3).norm())
    return table


look_up().sum().backward()
print(layer.bias.grad)
