# attacks: TPL001
# promise: the `.data` of a sparse gradient has values of its own
import torch
import torch.nn as nn

torch.manual_seed(0)
table = nn.Embedding(4, 2, sparse=True)
table(torch.tensor([1, 3])).sum().backward()
table.weight.grad.data.mul_(2)
print(table.weight.grad.to_dense())
table.weight.grad.data.zero_()
print(table.weight.grad.to_dense())
