# attacks: TPL001
# promise: the parts of a module whose constructor runs are known to nobody else
"""A probe takes an encoder and initialises what it has, while a loss of the encoder still waits."""
import torch
from torch import nn

torch.manual_seed(0)


class Probe(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(4, classes)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.clamp_(-9, 9)

    def forward(self, x):
        return self.head(self.encoder(x))


encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
waiting = encoder(torch.randn(2, 3)).pow(2).sum()
probe = Probe(encoder, 2)
waiting.backward()
print([round(p.grad.abs().sum().item(), 5) for p in encoder.parameters()], tuple(probe.head.weight.shape))
