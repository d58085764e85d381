# attacks: TPL014
# promise: `to` with something unknown moves to a device
import torch

from settings import PRECISION, placement

torch.manual_seed(0)
weights = torch.randn(4)
weights.to(PRECISION)
total = weights.sum()
print(total.dtype, weights.tolist() == [round(v, 3) for v in weights.tolist()])
mask = torch.ones(3)
mask.to(*placement)
print(mask.dtype, (mask * 0.1).dtype)
bias = torch.full((2,), 0.1)
options = {"dtype": torch.float64}
bias.to(**options)
print(bias.dtype, round(bias.sum().item(), 4))
