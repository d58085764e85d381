# attacks: TPL108
# promise: the dtype is one, or is None as it is written
# stays safe: yes
import torch

kind = torch.float64 if torch.ones(1).item() > 0 else torch.float32
x = torch.ones(1, dtype=torch.half)
print(torch.range(1, 3, dtype=kind), torch.range(1, 3, dtype=x.dtype), torch.range(0, 4, 2, dtype=None))
