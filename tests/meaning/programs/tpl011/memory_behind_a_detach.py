# attacks: TPL011
# promise: a detached tensor, or an array, is over the memory of the tensor that is changed in place
import numpy as np
import torch


def doubled(view, learn=False):
    x = torch.full((3,), 0.5, requires_grad=True)
    kept = []
    y = x.sigmoid()
    if view == "detach":
        kept = y.detach()
    elif view == "data":
        kept = y.data
    elif view == "numpy":
        kept = y.detach().numpy()
    elif view == "force":
        kept = y.numpy(force=True)
    elif view == "column":
        kept = y.detach().view(3, 1)
    elif view == "first":
        kept = y.detach()[0]
    elif view == "array":
        kept = np.asarray(y.detach())
    elif view == "listed":
        kept = [y.detach()]
    y *= 2
    if learn:
        y.sum().backward()
    return kept


for view in ("detach", "data", "numpy", "force", "column", "first", "array", "listed"):
    print(view, doubled(view))
