import torch


def merge_heads(x: torch.Tensor):
    batch, heads, length, width = x.shape
    x = x.transpose(1, 2)
    return x.view(batch, length, heads * width)
