# attacks: TPL204
# promise: nobody asks whether the view exists; a test for it does
import contextlib

import torch


def can_flatten(x):
    flat = None
    with contextlib.suppress(RuntimeError):
        merged = x.permute(1, 0, 2)
        flat = merged.view(-1, x.size(2))
    return flat is not None


print(can_flatten(torch.zeros(2, 3, 4)), can_flatten(torch.zeros(1, 3, 4)))
