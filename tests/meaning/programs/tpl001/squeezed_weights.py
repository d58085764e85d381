# attacks: TPL001
# promise: the shape is changed in place in the middle of a chain
import torch
import torch.nn as nn

torch.manual_seed(0)
layer = nn.Conv2d(1, 1, 1)
layer.weight.data.squeeze_().fill_(2.0)
print(tuple(layer.weight.shape))
row = torch.ones(1, 3)
row.data.squeeze_(0).add_(1)
print(tuple(row.shape), row.tolist())
grid = torch.arange(6.0).view(2, 3)
grid.data.t_().mul_(2)
print(tuple(grid.shape))
column = torch.zeros(3)
column.data.unsqueeze_(1).fill_(4)
print(tuple(column.shape))
