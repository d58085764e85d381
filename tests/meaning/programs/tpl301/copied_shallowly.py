# attacks: TPL301
# promise: a shallow copy shares the list
import copy

import torch
import torch.nn as nn

torch.manual_seed(0)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


net = Stack()
twin = copy.deepcopy(net)
shallow = copy.copy(net)
shallow.layers[1] = nn.Identity()
print([type(layer).__name__ for layer in net.layers], len(list(twin.children())))
print([round(v, 4) for v in net(torch.ones(1, 2)).flatten().tolist()])
