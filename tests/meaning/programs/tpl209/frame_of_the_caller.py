# attacks: TPL209
# promise: a name that is not written is not read; a debugging aid looks into the caller's frame
import inspect

import torch
from torch import nn


def tensors_here():
    """The shapes of all tensors of the calling function, as a profiler lists them."""
    found = inspect.currentframe().f_back.f_locals
    return {name: tuple(value.shape) for name, value in found.items() if isinstance(value, torch.Tensor)}


def run(encoder, head, batches):
    result = torch.zeros(2, 4)
    with torch.no_grad():
        for x in batches:
            hidden = encoder(x)
            result += hidden.sigmoid()
        final = head(result)
    print(tensors_here())
    return final


torch.manual_seed(0)
print(round(run(nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(3, 2, 3)).sum().item(), 4))
