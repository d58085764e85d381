# attacks: TPL014
# promise: a copy with the same numbers can take the tensor's place
import torch

torch.manual_seed(0)
storage = torch.randn(4, 3)
rows = storage[1:3]
rows.clone()
rows.zero_()
print([round(v, 4) for v in storage.flatten().tolist()])
columns = storage.t()
columns.contiguous()
columns += 1
print([round(v, 4) for v in storage.flatten().tolist()], columns.is_contiguous())
