# attacks: TPL011
# promise: the model is printed with its settings
import torch
import torch.nn as nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.gate = nn.Sigmoid()
        self.drop = nn.Dropout(0.5, inplace=True)

    def forward(self, x):
        y = self.gate(self.fc(x))
        return self.drop(y)


block = Block()
print(block)
print(block(torch.ones(1, 3)).shape, [m.inplace for m in block.modules() if hasattr(m, "inplace")])
