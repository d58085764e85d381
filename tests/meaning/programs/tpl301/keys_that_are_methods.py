# attacks: TPL301
# promise: the keys of the dict are names of methods, which a ModuleDict refuses
import torch
import torch.nn as nn

torch.manual_seed(0)


class Phased(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.heads = {"train": nn.Linear(size, 2), "eval": nn.Linear(size, 2)}
        self.losses = {"type": nn.Linear(size, 3), "value": nn.Linear(size, 1)}

    def forward(self, x, phase):
        return self.heads[phase](x), self.losses["type"](x)


net = Phased(3)
out, kind = net(torch.ones(1, 3), "eval")
print(out.shape, kind.shape, [round(v, 4) for v in out.flatten().tolist()])
