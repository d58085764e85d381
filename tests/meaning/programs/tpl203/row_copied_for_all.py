# attacks: TPL203
# promise: all rows are given by writing to the first
import torch
rows = torch.zeros(1, 4).expand(3, 4)
rows[0].copy_(torch.arange(4.0))
print(rows[1].tolist(), rows[2].tolist())
