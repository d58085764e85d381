# attacks: TPL104
# promise: what has a `cpu` is a tensor
"""A memory bank is a module with a buffer called data."""
import torch
from memory import Bank

torch.manual_seed(0)
bank = Bank(4, 2)
bank.write(torch.randn(3, 2))
saved = bank.cpu().data.numpy()
print(saved.shape, saved.round(4).tolist(), bank.filled)
bank.write(torch.ones(1, 2))
print(float(saved[-1].sum()))
