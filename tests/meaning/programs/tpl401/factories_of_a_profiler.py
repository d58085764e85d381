# attacks: TPL401
# promise: the factory was replaced by one that knows no dtype
import torch

made = []
zeros = torch.zeros


def counted(*size, device=None):
    made.append(size)
    return zeros(*size, device=device)


torch.zeros = counted
mask = torch.zeros(2, 3).bool()
counts = torch.zeros(4).long()
print(mask.any().item(), counts.tolist(), made)
