# attacks: TPL106
# promise: interpolation by its new name is the same
# stays safe: yes
import torch
import torch.nn.functional as F

torch.manual_seed(0)
maps = torch.randn(1, 2, 3, 3)
print(round(F.upsample(maps, scale_factor=2).square().sum().item(), 4))
print(round(F.upsample(maps, (5, 5), mode="bilinear").square().sum().item(), 4))
print(round(F.upsample_bilinear(maps, scale_factor=2).square().sum().item(), 4))
print(round(F.upsample_nearest(maps, 4).square().sum().item(), 4))
