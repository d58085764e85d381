# attacks: TPL207
# promise: what a tensor is added to is a tensor; a list takes its elements
import torch


def interleave(parts):
    ids = []
    ids += torch.arange(parts)
    return torch.tensor(ids)


print(interleave(4).tolist(), interleave(4).dtype)
