# attacks: TPL005
# promise: a parameter of whole numbers refuses to require grad
import torch
import torch.nn as nn

torch.manual_seed(0)


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Parameter(torch.arange(4), requires_grad=False)
        self.table = nn.Embedding(4, 2)

    def forward(self):
        return self.table(self.codes).sum()


net = Quantised()
for p in net.parameters():
    p.require_grad = True
for name, p in net.named_parameters():
    p.requires_gard = name != "bias"
net().backward()
print([(name, p.requires_grad) for name, p in net.named_parameters()])
