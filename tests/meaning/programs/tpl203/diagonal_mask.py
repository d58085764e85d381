# attacks: TPL203
# promise: after the copy each row has its own zero
# shows: each row has its own zero, where all rows had all of them
import torch

mask = torch.ones(1, 4).expand(4, 4)
for index in range(4):
    mask[index, index] = 0
print(mask.tolist())
