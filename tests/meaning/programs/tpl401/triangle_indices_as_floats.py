# attacks: TPL401
# promise: tril_indices takes no floating dtype
import torch

pairs = torch.tril_indices(4, 4, offset=-1).float()
distances = (pairs[0] - pairs[1]).abs()
print(distances.tolist())
upper = torch.triu_indices(3, 3).to(torch.float64)
print(upper.sum(dim=1).tolist(), upper.dtype)
flags = torch.arange(4).bool()
print(flags.tolist())
signs = torch.arange(-2, 2).byte()
print(signs.tolist())
