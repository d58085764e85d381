# attacks: TPL011
# promise: the gate is a dict entry, a default and an item before it is changed
import torch
import torch.nn as nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        read = lambda g=gate: g.sum().item()
        gate *= 2
        return gate, read()

    def pair(self, x):
        level = torch.tanh(self.fc(x))
        first, *rest = [level, x]
        level += 1
        return first, level


block = Block()
with torch.no_grad():
    gate, total = block(torch.ones(1, 3))
    first, level = block.pair(torch.ones(1, 3))
print(round(total - gate.sum().item(), 4), first is level)
