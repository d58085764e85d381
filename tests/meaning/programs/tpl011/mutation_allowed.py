# attacks: TPL011
# promise: a change of what was saved makes the backward raise
import torch
from torch.autograd.graph import allow_mutation_on_saved_tensors

torch.manual_seed(0)
x = torch.randn(4, requires_grad=True)
buffers = {}
with allow_mutation_on_saved_tensors():
    y = x.sigmoid()
    buffers["gate"] = y
    y *= 2
    loss = (y * torch.arange(4)).sum()
    loss.backward()
print([round(v, 5) for v in buffers["gate"].tolist()])
print([round(v, 5) for v in x.grad.tolist()], buffers["gate"] is y)
