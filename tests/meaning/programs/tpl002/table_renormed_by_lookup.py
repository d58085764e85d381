# attacks: TPL002
# promise: a lookup with `max_norm` scales rows of the table in place
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
layer = nn.Linear(2, 2)
indices = torch.tensor([0, 1])


def by_word():
    table = torch.exp(layer(torch.randn(4, 2)))
    print(F.embedding(indices, table.data, max_norm=0.1).norm())
    return table


def by_place():
    table = torch.exp(layer(torch.randn(4, 2)))
    print(F.embedding(indices, table.data, None, 0.1).norm())
    return table


for lookup in (by_word, by_place):
    try:
        lookup().sum().backward()
        print("computed", layer.bias.grad)
    except RuntimeError as error:
        print(type(error))
