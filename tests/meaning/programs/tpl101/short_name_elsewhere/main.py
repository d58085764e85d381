# attacks: TPL101
# promise: an alias that its own file does not use is used by nobody
import compat
import torch

torch.manual_seed(0)
x = compat.V(compat.T([1.0, 2.0, 3.0]))
print((x * 2).tolist(), type(x).__name__)
