# attacks: TPL301
# promise: what is registered in a sequence is run by it
import torch
from torch import nn


class Trunk(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 4), nn.ReLU())
        self.heads = [nn.Linear(4, 1), nn.Linear(4, 2)]

    def both(self, x):
        features = self(x)
        return [head(features) for head in self.heads]


torch.manual_seed(0)
print(Trunk().both(torch.ones(1, 4)))
