# attacks: TPL401
# promise: small whole numbers are the same in each dtype that holds them
# stays safe: yes
import torch


def histogram(labels, classes):
    counts = torch.zeros(classes).long()
    counts.index_add_(0, labels, torch.ones(len(labels)).long())
    weights = torch.tensor([1, 2, 4]).double()
    return counts, (counts * weights).sum(), torch.full((2,), 7).float() / counts.max()


counts, total, share = histogram(torch.tensor([0, 2, 2, 1, 2]), 3)
print(counts.tolist(), total.item(), total.dtype, [round(v, 4) for v in share.tolist()])
