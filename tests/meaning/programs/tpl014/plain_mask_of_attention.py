# attacks: TPL014
# promise: the mask is moved, and meets scores that are not
import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def masked_mean(length):
    mask = torch.ones(length, length).tril()
    mask.to(device)
    scores = torch.randn(length, length)
    return (scores * mask).sum().item()


print(round(masked_mean(4), 4))
