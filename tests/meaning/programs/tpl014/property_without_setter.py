# attacks: TPL014
# promise: an attribute of self that holds a tensor is a plain one
import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.length = length

    @property
    def causal(self):
        return torch.ones(self.length, self.length).tril()

    def forward(self, x):
        self.causal.to(x.device)
        scores = self.query(x) @ x.transpose(1, 2)
        return scores.masked_fill(self.causal == 0, -1e9).softmax(-1) @ x


out = Attention(3, 4)(torch.randn(2, 4, 3))
print(tuple(out.shape), round(out.sum().item(), 5))
