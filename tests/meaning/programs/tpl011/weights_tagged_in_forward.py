# attacks: TPL011
# promise: what a tensor was told, and asked for, goes along with a change in place
import torch
import torch.nn as nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 4)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=-1)
        weights.heads = 4
        weights *= 0.5
        return weights


class Pooled(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        setattr(y, "scale", 2)
        y.mul_(2)
        return y


out = Attention()(torch.ones(1, 3))
print(getattr(out, "heads", None), [round(v, 4) for v in out.flatten().tolist()])
print(getattr(Pooled()(torch.zeros(2)), "scale", None))
