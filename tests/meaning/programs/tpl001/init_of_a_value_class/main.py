# attacks: TPL001
# promise: what is initialised through .data is a parameter
"""Tables of an embedding store hold their tensor in `data` beside a name."""
import torch
from tables import make_tables
from torch import nn

torch.manual_seed(0)
tables = make_tables({"user": (4, 2), "item": (3, 2)})
for table in tables:
    nn.init.normal_(table.data, std=0.1)
scores = tables[0].data @ tables[1].data.t()
scores.sum().backward()
for table in tables:
    print(table.name, round(table.data.sum().item(), 5), round(table.data.grad.abs().sum().item(), 5))
