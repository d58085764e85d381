# attacks: TPL207
# promise: what a data loader gives is tensors; this one gives lists
import torch
from loading import make_loader
from torch.utils.data import DataLoader


def lengths(loader: DataLoader):
    total = torch.zeros(2)
    for x, y in loader:
        total = total + torch.tensor(x).sum(0) + torch.tensor(y)
    return total.tolist()


print(lengths(make_loader()))
