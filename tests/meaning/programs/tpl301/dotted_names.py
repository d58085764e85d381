# attacks: TPL301
# promise: keys that are strings may name modules; these have dots
import torch
from torch import nn


class Adapters(nn.Module):
    """A small linear map for each layer of a model, by the layer's name."""

    def __init__(self, base, width):
        super().__init__()
        self.base = base
        self.maps = {}
        for index in range(2):
            name = f"blocks.{index}"
            self.maps[name] = nn.Linear(width, width, bias=False)

    def forward(self, x):
        for index, block in enumerate(self.base):
            x = block(x) + self.maps[f"blocks.{index}"](x)
        return x


torch.manual_seed(0)
base = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
print(round(Adapters(base, 3)(torch.ones(1, 3)).sum().item(), 4))
