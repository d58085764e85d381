import torch


def freeze(tensor):
    tensor.requires_grad_(False)


def gain(alpha):
    return torch.sigmoid(alpha)
