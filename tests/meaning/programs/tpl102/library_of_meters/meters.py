import torch.nn.functional as F


def last_of(out, y):
    loss = F.cross_entropy(out, y)
    return loss.data[0]
