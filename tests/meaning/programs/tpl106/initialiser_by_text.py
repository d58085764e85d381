# attacks: TPL106
# promise: a setting names the imported initialiser, and is evaluated
import torch
from torch.nn.init import constant

settings = {"init": "constant(weight, 5)"}
weight = torch.empty(2)
constant(weight, 2)
print(weight)
eval(settings["init"])
print(weight)


def start(weight, how="constant"):
    return globals()[how](weight, 1)


print(start(torch.empty(2)))
