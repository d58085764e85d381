# attacks: TPL203
# promise: each row of the mask is masked by itself
# shows: all rows are written
# stays safe: yes
import torch

mask = torch.ones(1, 4).expand(3, 4)
mask[0, 0] = 0
print(mask.tolist())
