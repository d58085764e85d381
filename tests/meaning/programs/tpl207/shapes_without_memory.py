# attacks: TPL207
# promise: a copy is made where the tensor is; a device context moves it
import torch
from torch import nn


def dry_run(layer, x: torch.Tensor):
    """Shapes only: everything that is made here has no memory."""
    with torch.device("meta"):
        inputs = torch.tensor(x)
        copy = nn.Linear(layer.in_features, layer.out_features)
    return copy(inputs)


out = dry_run(nn.Linear(3, 2), torch.ones(4, 3))
print(out.device, tuple(out.shape))
