# attacks: TPL203
# promise: a template that is shown once per item, and then changed whole, is the same
# stays safe: yes
import torch


def masks(lengths, size):
    mask = torch.ones(1, size).expand(len(lengths), size)
    rows = []
    for index in range(len(lengths)):
        mask[index] = torch.arange(size) < lengths[index]
        rows.append(mask[index].sum().item())
    return rows


print(masks([1, 3, 2], 4))
