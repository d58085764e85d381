# attacks: TPL001
# promise: the program makes the layer of a library under autocast, which keeps a cast of the weight that was
import torch
from rotations import Rotated

torch.manual_seed(0)
x = torch.tensor([[1.0, 0.0]])
with torch.autocast("cpu", dtype=torch.bfloat16):
    layer = Rotated(2)
    first = layer(x).float()
second = layer(x)
print([round(v, 1) for v in first.flatten().tolist()])
print([round(v, 1) for v in second.flatten().tolist()])
