# attacks: TPL108
# promise: the file asks for its own names by text
import torch
from torch import ger

print(ger(torch.ones(1), torch.ones(1)))
print(globals()["ger"].__name__)
