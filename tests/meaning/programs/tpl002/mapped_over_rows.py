# attacks: TPL002
# promise: under vmap, `.data` is no `.detach()`
import torch
import torch.nn.functional as F


def shifted(w):
    out = torch.sin(w)
    return out + F.softmax(out, dim=0).data


try:
    print(torch.vmap(shifted)(torch.ones(2, 3)))
except RuntimeError as error:
    print("refused", type(error))
