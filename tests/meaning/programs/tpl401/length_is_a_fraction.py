# attacks: TPL401
# promise: the length that a function is given is a fraction, which an integer range cuts
import torch


def positions(length):
    return torch.arange(length).int()


def marks(mask: torch.Tensor):
    return torch.arange(mask.numel()).type_as(mask)


def codes(first, last):
    return torch.arange(first, last).to(torch.uint8)


print(positions(4).tolist(), positions(7 / 2).tolist())
print(marks(torch.tensor([True, False, True])).tolist())
print(codes(254, 258).tolist(), codes(-2, 1).tolist())
