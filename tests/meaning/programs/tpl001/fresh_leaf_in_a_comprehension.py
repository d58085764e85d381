# attacks: TPL001
# promise: the products of a list comprehension have saved the tensor that was just made
import torch

torch.manual_seed(0)


def unrolled(weights: torch.Tensor, steps):
    x = torch.full((2,), 0.5, requires_grad=True)
    terms = [(x ** (k + 2) * weights).sum() for k in range(steps)]
    x.data.fill_(2.0)
    return x, torch.stack(terms).sum()


x, total = unrolled(torch.tensor([1.0, -1.0]), 3)
total.backward()
print([round(v, 4) for v in x.grad.tolist()])
