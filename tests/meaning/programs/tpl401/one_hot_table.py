# attacks: TPL401
# promise: an identity matrix of whole numbers is the same, made as such
# stays safe: yes
import torch

table = torch.eye(4).long()
labels = torch.tensor([2, 0, 3])
weights = torch.tensor([1, 2, 3, 4]).float()
print(table[labels].tolist(), (table[labels] * weights).sum(1).tolist(), table.dtype)
