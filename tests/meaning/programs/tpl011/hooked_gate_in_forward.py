# attacks: TPL011
# promise: a hook of the gate sees the gradient of what the gate has become
import torch
import torch.nn as nn

torch.manual_seed(0)
seen = []


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        gate = self.fc(x).relu()
        if gate.requires_grad:
            gate.register_hook(lambda grad: seen.append(round(grad.sum().item(), 4)))
        gate += 1
        return gate


net = Gated()
net(torch.ones(1, 3))
with torch.no_grad():
    print([round(v, 4) for v in net(torch.ones(1, 3)).flatten().tolist()], seen)
