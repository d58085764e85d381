# attacks: TPL203
# promise: each row of the loop shows what was written to the first
import torch
rows = torch.zeros(1, 4).expand(3, 4)
rows[0] = torch.arange(4.0)
for row in rows:
    print(row.tolist())
