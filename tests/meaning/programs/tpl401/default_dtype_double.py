# attacks: TPL401
# promise: the default dtype is double here, so that the cast is one
import torch

torch.set_default_dtype(torch.float64)
positions = torch.arange(5).to(torch.get_default_dtype())
scale = torch.full((2,), 0.1).float()
mask = torch.ones(3).float()
print(positions.dtype, scale.dtype, mask.dtype)
print(scale.double().tolist())
print((positions / 3).tolist())
third = torch.full((2,), 1 / 3).half()
print(third.double().tolist())
