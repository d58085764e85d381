# attacks: TPL014
# promise: a name that says nothing of a type is a device
import torch
from torch import nn

torch.manual_seed(0)


def place(x: torch.Tensor, target) -> torch.Tensor:
    x.to(target)
    return x.mean(dim=0)


print(place(torch.randn(4, 3), torch.float64).dtype)
print([round(v, 5) for v in place(torch.rand(4, 3), torch.device("cpu")).tolist()])
for like in (torch.zeros(1, dtype=torch.float16), "cpu"):
    out = place(torch.arange(6.0).view(2, 3), like)
    print(out.dtype, out.tolist())
