# attacks: TPL003
# promise: the `.data` of an inference tensor may be initialised anywhere, the tensor may not
import torch
import torch.nn as nn

with torch.inference_mode():
    w = torch.ones(3)
try:
    w.data = nn.init.zeros_(w.data)
    print("set")
except RuntimeError:
    print("for inference")
print(w)
