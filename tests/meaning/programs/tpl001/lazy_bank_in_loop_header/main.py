# attacks: TPL001
# promise: the header of the loop computes nothing that autograd records
"""Applies the updates of a bank that computes each gradient when it is asked for."""
import torch
from bank import GradientBank

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
bank = GradientBank(w, {"fit": lambda v: (v - 1).pow(2).sum(), "decay": lambda v: 0.1 * v.pow(2).sum()})
for name, update in bank.items():
    w.data.sub_(update, alpha=0.1)
print(sorted(bank.seen), [round(v, 5) for v in w.tolist()])
