# attacks: TPL011
# promise: the gate is kept under another name through the frame of the module
import torch
import torch.nn as nn

torch.manual_seed(0)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        report = lambda: round(gate.sum().item(), 4)
        kept = vars()["gate"]
        gate *= 2
        return gate, kept, report()


with torch.no_grad():
    out, kept, total = Gated()(torch.ones(1, 3))
print(out is kept, round(kept.sum().item(), 4), total)
