# attacks: TPL204
# promise: the order of the elements is that of the view
# stays safe: yes
import torch
from torch import nn


class Decoder(nn.Module):
    """Decodes one sequence at a time, time first."""

    def __init__(self, width, tokens):
        super().__init__()
        self.rnn = nn.GRU(width, width)
        self.out = nn.Linear(width, tokens)

    def forward(self, x: torch.Tensor):
        output, _ = self.rnn(x)
        rows = output.transpose(0, 1)
        return self.out(rows.view(-1, output.size(2)))


def batch_rows(x: torch.Tensor):
    length, batch, width = x.shape
    return x.transpose(0, 1).view(batch * length, width)


torch.manual_seed(0)
scores = Decoder(3, 2)(torch.randn(4, 1, 3))
print(scores.shape, round(scores.sum().item(), 4))
print(batch_rows(torch.arange(6.0).view(3, 1, 2)).tolist())
