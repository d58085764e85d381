# attacks: TPL001
# promise: a helper of the constructor gives a product of the weight, which is kept
import torch
import torch.nn as nn

torch.manual_seed(0)


class Flow(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, size))
        self.volume = self._log_volume()
        self.weight.data.div_(self.weight.data.abs().max())

    def _log_volume(self):
        return torch.linalg.slogdet(self.weight)[1]

    def forward(self, x):
        return x @ self.weight


flow = Flow(2)
(flow(torch.ones(1, 2)).sum() + flow.volume).backward()
print([round(v, 4) for v in flow.weight.grad.flatten().tolist()])
