# attacks: TPL203
# promise: the row that is written to has a name
import torch
FIRST = 0
rows = torch.zeros(1, 4).expand(3, 4)
rows[FIRST] = 1
print(rows[1].tolist())
