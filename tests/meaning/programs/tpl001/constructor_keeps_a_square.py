# attacks: TPL001
# promise: the constructor computes with the weight before it is initialised
import torch
import torch.nn as nn

torch.manual_seed(0)


class Gate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.offset = nn.Linear(size, 1)
        self.power = self.scale ** 2
        self._reset()

    def _reset(self):
        self.scale.data.uniform_(0.5, 1.5)
        self.offset.weight.data.zero_()

    def forward(self, x):
        return self.offset(x) + (x * self.power).sum(1, keepdim=True)


gate = Gate(3)
gate(torch.ones(2, 3)).sum().backward()
print([round(v, 4) for v in gate.scale.grad.tolist()])
