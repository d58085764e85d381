# attacks: TPL001
# promise: a fresh tensor given to an imported helper still has no graph
"""A sparse layer writes its outputs into a dense buffer of the caller."""
import torch
from scatter import write_rows

torch.manual_seed(0)
values = torch.randn(2, 3, requires_grad=True)
dense = torch.zeros(5, 3)
write_rows(dense, [1, 3], values)
dense.data *= 10
dense.sum().backward()
print(values.grad.flatten().tolist())
print(round(dense.sum().item(), 4))
