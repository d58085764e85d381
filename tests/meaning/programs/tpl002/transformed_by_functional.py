# attacks: TPL002
# promise: inside of a function transform
import torch
from torch.func import grad, vmap

torch.manual_seed(0)


def energy(x: torch.Tensor):
    frozen = (x * 2).data
    return (x * frozen).sum()


try:
    print(grad(energy)(torch.tensor([1.0, 2.0])))
except RuntimeError as error:
    print("refused", str(error).splitlines()[0][:60])
try:
    print(vmap(lambda row: (row * 3).data.sum())(torch.ones(2, 3)))
except RuntimeError as error:
    print("refused", str(error).splitlines()[0][:60])
