# attacks: TPL002
# promise: `.data` takes a tensor out of one level of nested transforms, `.detach()` out of all
import torch
import torch.nn.functional as F
from torch.func import hessian


def weighted(w):
    out = torch.sin(w)
    return (out * F.softmax(out, dim=0).data).sum()


print(hessian(weighted)(torch.ones(2)))
