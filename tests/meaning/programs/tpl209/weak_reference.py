# attacks: TPL209
# promise: nothing holds the last tensor but its name; a weak reference looks at it later
import weakref

import torch
from torch import nn


class Probe:
    """The newest tensor, as long as somebody has it."""

    def __init__(self):
        self.ref = None

    def see(self, tensor):
        self.ref = weakref.ref(tensor)

    def norm(self):
        tensor = self.ref()
        return None if tensor is None else round(tensor.norm().item(), 4)


def run(encoder, head, batches, probe):
    result = torch.zeros(2, 4)
    with torch.no_grad():
        for x in batches:
            hidden = encoder(x)
            result += hidden.sigmoid()
            probe.see(hidden)
        return head(result), probe.norm()


torch.manual_seed(0)
output, norm = run(nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(3, 2, 3), Probe())
print(round(output.sum().item(), 4), norm)
