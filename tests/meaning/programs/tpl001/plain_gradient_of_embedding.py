# attacks: TPL001
# promise: an embedding whose gradients are dense, and a sum of a sparse adjacency in the text: "sparse"
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
table = nn.Embedding(4, 2, sparse=False)
table(torch.tensor([1, 3])).sum().backward()
table.weight.grad.data.mul_(2)
print(table.weight.grad, "no sparse gradient")
