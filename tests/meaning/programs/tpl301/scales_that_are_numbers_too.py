# attacks: TPL301
# promise: the list is compared, added to and multiplied like a list
import torch
import torch.nn as nn

torch.manual_seed(0)


class Pyramid(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = [nn.Linear(2, 2) for _ in range(depth)]
        self.order = list(range(depth))

    def forward(self, x):
        for block in self.blocks[:-1] + [self.blocks[0]] * 2:
            x = torch.tanh(block(x))
        return x

    def describe(self):
        return isinstance(self.blocks, list), self.blocks == self.blocks[:], len(self.blocks * 2)


net = Pyramid(3)
print([round(v, 4) for v in net(torch.ones(1, 2)).flatten().tolist()], net.describe())
