# attacks: TPL106
# promise: a default argument is an initialiser whose name is printed
import torch
from torch import nn

torch.manual_seed(0)


def start(weight, function=nn.init.xavier_uniform):
    print("using", function.__name__)
    return function(weight)


print(start(torch.empty(2, 2)))
