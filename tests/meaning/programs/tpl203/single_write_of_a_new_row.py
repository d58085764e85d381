# attacks: TPL203
# promise: rows that all get the same values have them afterwards
# stays safe: yes
import torch


def positions(batch, length):
    base = torch.arange(length).unsqueeze(0)
    index = base.expand(batch, length)
    for row in range(batch):
        index[row] = torch.arange(length).flip(0)
    return index.float().mean(1), index[0]


mean, first = positions(3, 5)
print(mean.tolist(), first.tolist())
