# attacks: TPL301
# promise: the list is found among the attributes of the object
import torch
import torch.nn as nn

torch.manual_seed(0)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 1)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def describe(module):
    known = module.__dict__
    return "layers" in known, len(known.get("layers", ()))


net = Stack()
print(describe(net), net(torch.ones(1, 2)).shape)
