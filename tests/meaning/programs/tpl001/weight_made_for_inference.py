# attacks: TPL001
# promise: the `.data` of an inference tensor may be changed anywhere, the tensor may not
import torch
import torch.nn as nn


def build():
    layer = nn.Linear(2, 2, bias=False)
    nn.init.ones_(layer.weight)
    return layer


with torch.inference_mode():
    w = torch.ones(3)
    layer = build()
try:
    w.data.mul_(2)
    layer.weight.data.mul_(2)
except RuntimeError as error:
    print(type(error))
print(w, layer.weight.sum())
