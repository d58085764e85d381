# attacks: TPL207
# promise: a product with a tensor is a tensor; a list is repeated by it
import torch


def padding(lengths: torch.Tensor):
    fill = lengths.max() * [-1.0]
    fill += lengths.float()
    return torch.tensor(fill)


print(padding(torch.tensor([2, 4, 3])).tolist())
