# attacks: TPL203
# promise: the positions of one are those of all, and are returned
import torch
def table(batch):
    positions = torch.zeros(1, 4).expand(batch, -1)
    positions[0] = torch.arange(4.0)
    return positions
print(table(3).tolist())
