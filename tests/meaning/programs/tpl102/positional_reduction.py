# attacks: TPL102
# promise: the criterion does not reduce, as its second positional argument says
import torch
import torch.nn as nn

torch.manual_seed(0)
out, y = torch.randn(3), torch.randn(3)
criterion = nn.MSELoss(None, False)
loss = criterion(out, y)
print(loss.dim(), round(loss.data[0].item(), 4))
other = nn.L1Loss()
setattr(other, "reduction", "none")
gap = other(out, y)
print(gap.dim(), round(gap.data[0].item(), 4))
third = nn.SmoothL1Loss()
third.__dict__.update(reduction="none")
print(round(third(out, y).data[0].item(), 4))
