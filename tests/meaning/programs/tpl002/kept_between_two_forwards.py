# attacks: TPL002
# promise: the last output is kept as a property, and normalised in place by whoever reads it
import torch
import torch.nn as nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self._last = None

    @property
    def last(self):
        return self._last

    def forward(self, x):
        out = torch.sigmoid(self.fc(x))
        self._last = out.data
        return out


def normalised(t):
    t -= t.mean(0)
    t /= t.std(0) + 1e-6
    return t


encoder = Encoder()
out = encoder(torch.randn(4, 3))
features = normalised(encoder.last)
(out - features.clone()).pow(2).sum().backward()
print([round(v, 4) for v in encoder.fc.bias.grad.tolist()])
