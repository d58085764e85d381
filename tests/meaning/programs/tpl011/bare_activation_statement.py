# attacks: TPL011
# promise: a module that works in place is used for its result
import torch
from torch import nn

torch.manual_seed(0)


class Gated(nn.Module):
    def __init__(self, width, gated):
        super().__init__()
        self.gated = gated
        self.fc = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        h = self.fc(x)
        self.relu(h)
        if self.gated:
            g = self.gate(x).sigmoid()
            g = self.relu(g)
            h = h * g
        return h


model = Gated(4, gated=False)
out = model(torch.randn(3, 4))
out.sum().backward()
print([round(v, 5) for v in out.flatten().tolist()])
print(round(model.fc.weight.grad.abs().sum().item(), 5))
