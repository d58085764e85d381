# attacks: TPL209
# promise: a loop over chunks whose activations are used twice, in a branch too, gives the same
# stays safe: yes
import torch
from torch import nn


class Summariser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.head = nn.Linear(3, 4), nn.Linear(4, 2)

    @torch.no_grad()
    def summary(self, chunks, squared=False):
        total = torch.zeros(4)
        for chunk in chunks:
            hidden = self.encode(chunk)
            total += hidden.mean(0)
            if squared:
                total += hidden.pow(2).mean(0)
        return self.head(total)


torch.manual_seed(0)
model = Summariser()
chunks = torch.randn(3, 2, 3)
print([[round(v, 4) for v in model.summary(chunks, flag).tolist()] for flag in (False, True)])
