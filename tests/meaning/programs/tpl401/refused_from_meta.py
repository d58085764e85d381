# attacks: TPL401
# promise: a default device without data refuses the move, and the code awaits that
import torch
torch.set_default_device("meta")
try:
    a = torch.zeros(3).to("cpu").double()
except NotImplementedError:
    a = None
b = torch.ones(2).double()
print(a, b.device)
