# attacks: TPL401
# promise: floats are counted in bfloat16 first
import torch
torch.set_default_dtype(torch.bfloat16)
n = 300.0
pos = torch.arange(n).float()
print(pos[-3:])
