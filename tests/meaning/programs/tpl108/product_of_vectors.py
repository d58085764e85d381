# attacks: TPL108
# promise: a function that is only called may be renamed, though the file compares things
# stays safe: yes
import torch
from torch import ger

first, second = torch.arange(3.0), torch.ones(2)
for number in range(2):
    if number == 1:
        print(ger(first, second), torch.ger(second, first))
