# attacks: TPL106
# promise: the old function is none of those in a set, and the new one is
import torch
from torch.nn import init

NEED_GAIN = {init.xavier_normal_, init.xavier_uniform_}
torch.manual_seed(0)


def fill(weight, how=init.xavier_uniform):
    return how(weight, gain=3.0) if how in NEED_GAIN else how(weight)


print(fill(torch.empty(2, 2)))
