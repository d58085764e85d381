# attacks: TPL203
# promise: a buffer made of an expansion is a value of its own; this one follows the parameter that it shows
import torch
from torch import nn


class Template(nn.Module):
    def __init__(self, rows, size):
        super().__init__()
        self.row = nn.Parameter(torch.ones(size))
        self.register_buffer("rows", self.row.detach().expand(rows, size))

    def forward(self, x):
        return (x - self.rows).pow(2).sum() + (x.mean(0) - self.row).pow(2).sum()


torch.manual_seed(0)
model = Template(2, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.zeros(2, 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4), [round(v, 4) for v in model.rows[1].tolist()])
