import torch


def smooth(labels: torch.Tensor, amount: float):
    soft = torch.tensor(labels)
    soft.mul_(1 - amount).add_(amount / labels.size(-1))
    return soft
