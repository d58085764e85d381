# attacks: TPL106
# promise: an imported initialiser is deleted by its name, so that the rename leaves the name behind
import torch
from torch.nn.init import constant

weight = torch.empty(2, 3)
constant(weight, 2)
print(weight)
del constant
print("constant" in globals())
