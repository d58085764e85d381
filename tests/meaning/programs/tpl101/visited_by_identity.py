# attacks: TPL101
# promise: nobody asks whether the two names are one object
import torch
from torch.autograd import Variable


def unique(tensors):
    kept = []
    for tensor in tensors:
        if not any(tensor is other for other in kept):
            kept.append(tensor)
    return kept


torch.manual_seed(0)
weights = torch.zeros(2, 3)
tied = Variable(weights)
leaves = unique([weights, tied, weights])
print(len(leaves), sum(leaf.numel() for leaf in leaves))
