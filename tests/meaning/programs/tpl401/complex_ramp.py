# attacks: TPL401
# promise: the factory can make what the cast gives; a range of complex numbers it cannot
import torch


def twiddles(n, dtype):
    k = torch.arange(n).to(dtype)
    return torch.exp(-2j * torch.pi * k / n)


print([round(abs(v), 3) for v in twiddles(4, torch.complex64).tolist()])
