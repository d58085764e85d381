# attacks: TPL207
# promise: the copy is made inside of a function transform
import torch
from torch.func import grad


def energy(x: torch.Tensor):
    frozen = torch.tensor(x * 2)
    return (x * frozen).sum()


try:
    print(grad(energy)(torch.tensor([1.0, 2.0])).tolist())
except RuntimeError as error:
    print("refused")
