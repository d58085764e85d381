# attacks: TPL102
# promise: the program that imports the meter awaits the error of an old index
# shows: the function of the library raises whatever it is given; who awaits that awaits the hazard
import torch
from meters import last_of

torch.manual_seed(0)
out, y = torch.randn(3, 2), torch.tensor([0, 1, 0])
try:
    value, kind = last_of(out, y), "indexed"
except IndexError:
    value, kind = 0.0, "no dimensions"
print(round(float(value), 4), kind)
