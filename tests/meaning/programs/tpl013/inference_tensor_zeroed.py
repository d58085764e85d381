# attacks: TPL013
# promise: a tensor of inference mode refuses to be changed
import torch
with torch.inference_mode():
    w = torch.ones(2)
w.zero_
print(w)
