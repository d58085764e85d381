# attacks: TPL001
# promise: a shape that is changed in place through .data is that of another object
import torch

w = torch.arange(6.0).view(2, 3)
w.data.t_()
print(tuple(w.shape))
row = torch.ones(3)
row.data.unsqueeze_(0).mul_(2)
print(tuple(row.shape), row.tolist())
grid = torch.zeros(2, 3)
grid.data.transpose_(0, 1).add_(1)
print(tuple(grid.shape))
