# attacks: TPL301
# promise: pairs of layers, taken apart in the loop, give the same
# stays safe: yes
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.stages = []
        for i, o in zip(channels, channels[1:]):
            self.stages.append(nn.Sequential(nn.Conv1d(i, o, 3, padding=1), nn.GroupNorm(1, o)))
        self.last = len(self.stages) - 1

    def forward(self, x):
        skips = []
        for index, stage in enumerate(self.stages):
            x = stage(x).relu()
            if index != self.last:
                skips.append(x.mean())
        return x.mean(-1), torch.stack(skips)


torch.manual_seed(0)
features, skips = Encoder([1, 2, 3, 4])(torch.ones(2, 1, 6))
print(features.shape, round(features.sum().item(), 3), [round(v, 3) for v in skips.tolist()])
