# attacks: TPL106
# promise: the name of the initialiser is given something else in a branch, and what is read behind it may be either
import torch
from torch.nn.init import normal

torch.manual_seed(0)
weight = torch.empty(2)
if weight.numel() < 5:
    normal(weight)
    normal = None
print(weight, normal is None)
