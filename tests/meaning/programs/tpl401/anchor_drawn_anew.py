# attacks: TPL401
# promise: the tensor that is asked for device and dtype may be asked twice; this property counts
import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(2, dtype=torch.float64))
        self.asked = 0

    @property
    def anchor(self):
        self.asked += 1
        return self.scale * self.asked

    def start(self, count):
        return torch.zeros(count).to(self.anchor)


sampler = Sampler()
print(sampler.start(2).dtype, sampler.start(1).dtype, sampler.anchor.tolist())
