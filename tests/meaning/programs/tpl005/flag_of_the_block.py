# attacks: TPL005
# promise: the attribute is the block's own, and its forward reads it through a table of options
import torch
import torch.nn as nn

torch.manual_seed(0)
OPTIONS = ("require_grad", "bias")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def settings(self):
        return {name: getattr(self, name, None) for name in OPTIONS}

    def forward(self, x):
        out = self.fc(x)
        return out if self.settings()["require_grad"] else out.detach()


block = Block()
block.require_grad = True
print(block(torch.ones(1, 2)).requires_grad, block.settings())
block.require_grad = False
print(block(torch.ones(1, 2)).requires_grad)
