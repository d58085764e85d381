# attacks: TPL106
# promise: a function that is handed on, and only called, is renamed where it is named
# stays safe: yes
from functools import partial

import torch
from torch import nn

torch.manual_seed(0)


def start(weight, function=nn.init.xavier_uniform):
    return function(weight)


fill = partial(nn.init.constant, val=2.0)
print(start(torch.empty(2, 2)), fill(torch.empty(2)))
if __name__ == "__main__":
    print(nn.init.eye(torch.empty(2, 2)))
