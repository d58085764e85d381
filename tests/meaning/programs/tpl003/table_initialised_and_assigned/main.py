# attacks: TPL003
# promise: what is initialised through .data is a parameter
"""The tables of an embedding store are initialised; each assignment is counted by the store."""
import torch
from store import Table
from torch import nn

torch.manual_seed(0)
tables = [Table(3, 2), Table(2, 2)]
for table in tables:
    table.data = nn.init.uniform_(table.data)
print([table.generation for table in tables])
print([[round(v, 4) for v in table.data.flatten().tolist()] for table in tables])
