# attacks: TPL401
# promise: the ends of the range are integers; they are measured here
import torch


def bins(values):
    low, high = values.min().item(), values.max().item()
    edges = torch.arange(low, high).int()
    return edges.tolist(), torch.bucketize(values.int(), edges).tolist()


print(bins(torch.tensor([-1.5, 0.7, 1.2, 2.2])))
