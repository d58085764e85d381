# attacks: TPL014
# promise: the discarded move would have made a copy, in another memory format
import torch

device = torch.device("cpu")
canvas = torch.zeros(1, 2, 2, 2)
canvas.to(device, copy=True, memory_format=torch.channels_last)
print(canvas.stride())
base = torch.zeros(4)
window = base[:2]
window.to(device, copy=True)
window += 1
print(base.tolist())
one = torch.ones(2)
one.to(device, torch.float16)
print(one.dtype)
