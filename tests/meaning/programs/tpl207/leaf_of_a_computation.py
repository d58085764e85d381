# attacks: TPL207
# promise: a new leaf of another dtype, made of a tensor, is the same
# stays safe: yes
import torch


def start_of_search(features: torch.Tensor):
    center = features.mean(0)
    return torch.tensor(center, dtype=torch.float64, requires_grad=True)


x = start_of_search(torch.arange(6.0).view(3, 2))
(x * x).sum().backward()
print(x.dtype, x.is_leaf, x.tolist(), x.grad.tolist())
