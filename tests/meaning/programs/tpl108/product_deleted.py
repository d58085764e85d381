# attacks: TPL108
# promise: an imported function is deleted by its name
import torch
from torch import ger

print(ger(torch.ones(1), torch.ones(1)))
del ger
print("ger" in globals())
