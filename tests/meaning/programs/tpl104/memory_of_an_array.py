# attacks: TPL104
# promise: what was a tensor is an array by now, whose data is a memory view
import numpy as np
import torch

torch.manual_seed(0)
out = torch.softmax(torch.randn(2, 3), 1)
for step in range(2):
    print(type(out.data).__name__, len(out.data.tolist()))
    out = out.numpy() if isinstance(out, torch.Tensor) else torch.from_numpy(out)
history = [torch.zeros(2), np.ones(2)]
for item in history:
    print(item.data.tolist())
